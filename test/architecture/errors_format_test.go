package architecture_test

import (
	"go/ast"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	verb = regexp.MustCompile(`%([-+# 0]*)(\[\d+\])?[0-9.*]*([a-zA-Z%])`)
	// marked is a mark; with an f, its text is a format.
	marked = regexp.MustCompile(`\x01(\d+)\.(\w+)(!?)\x02`)
	// worded is a text with at least two words of its own.
	worded = regexp.MustCompile(`[A-Za-z']{2,}[^A-Za-z]* [^A-Za-z]*[A-Za-z']{2,}`)
)

// join combines the texts of two parts. Of a part that may be one of several words, none says what went wrong.
func join(left, right []string) []string {
	left, right = plain(left), plain(right)
	if len(left)*len(right) > most {
		left, right = first(left), first(right)
	}
	var all []string
	for _, l := range left {
		for _, r := range right {
			all = append(all, l+r)
		}
	}
	return all
}

func plain(texts []string) []string {
	if len(texts) > 2 && !slices.ContainsFunc(texts, tells) {
		return variable()
	}
	return texts
}

// tells reports whether a text is more than a name or a thing, such as "an object".
func tells(text string) bool {
	thing := strings.HasPrefix(text, "a ") || strings.HasPrefix(text, "an ") ||
		strings.HasPrefix(text, "the ") && strings.Count(text, " ") < 3
	return worded.MatchString(text) && !thing
}

// first is a text, or … where there are several.
func first(texts []string) []string {
	if len(texts) > 1 {
		return variable()
	}
	return texts
}

// part is what a text has in one place. Where a name stands again, the same of its texts does.
type part struct {
	name  string
	texts []string
}

func fixed(text string) part { return part{texts: []string{text}} }

// compose are the texts that parts make.
func compose(parts []part) (all []string) {
	for i, p := range parts {
		same := func(other part) bool { return p.name != "" && other.name == p.name }
		texts := plain(p.texts)
		if len(texts) == 1 || !slices.ContainsFunc(parts[i+1:], same) {
			continue
		}
		for _, text := range texts {
			chosen := slices.Clone(parts)
			for j := range chosen {
				if same(chosen[j]) {
					chosen[j].texts = []string{text}
				}
			}
			all = append(all, compose(chosen)...)
		}
		return all
	}
	all = []string{""}
	for _, p := range parts {
		all = join(all, p.texts)
	}
	return all
}

// reason reports whether a text that a call gives may say what went wrong.
func reason(text string) bool {
	return tells(text) || worded.MatchString(text) && strings.Count(text, " ") > 2
}

// format is the text of a call whose arguments from one on are a format and its values.
func (r *reader) format(n *ast.CallExpr, first int, f *callable) (all []string) {
	for _, format := range r.text(n.Args[first], f) {
		var parts []part
		from, next := 0, first+1
		for _, at := range verb.FindAllStringSubmatchIndex(format, -1) {
			parts = append(parts, fixed(formatMark(format[from:at[0]])))
			from = at[1]
			if format[at[6]:at[7]] == "%" {
				parts = append(parts, fixed("%"))
				continue
			}
			if at[4] >= 0 { // %[2]s
				next, _ = strconv.Atoi(format[at[4]+1 : at[5]-1]) // the expression matches numbers only
				next += first
			}
			arg := variable()
			if next < len(n.Args) && !n.Ellipsis.IsValid() {
				arg = slices.Clone(r.text(n.Args[next], f))
			}
			for i, text := range arg {
				if format[at[6]:at[7]] == "q" && !marked.MatchString(text) && !strings.Contains(text, "…") {
					arg[i] = strconv.Quote(text)
				}
			}
			parts = append(parts, part{strconv.Itoa(next), arg})
			next++
		}
		all = append(all, compose(append(parts, fixed(formatMark(format[from:]))))...)
	}
	if len(all) > most {
		return variable()
	}
	return all
}

func formatMark(s string) string { return marked.ReplaceAllString(s, "\x01$1.$2!\x02") }

// formatted is a format whose values are not known.
func formatted(s string) string {
	return formatMark(verb.ReplaceAllStringFunc(s, func(v string) string {
		if strings.HasSuffix(v, "%") {
			return "%"
		}
		return "…"
	}))
}

// fill replaces the marks of a function's parameters by what a call gives.
func (r *reader) fill(text string, n *ast.CallExpr, g, f *callable) []string {
	if m := marked.FindStringSubmatch(text); m != nil && m[0] == text && m[1] == strconv.Itoa(g.number) && m[3] == "" {
		return r.argument(m[2], false, n, g, f)
	}
	var parts []part
	from := 0
	for _, at := range marked.FindAllStringSubmatchIndex(text, -1) {
		filled := part{text[at[0]:at[1]], []string{text[at[0]:at[1]]}}
		if text[at[2]:at[3]] == strconv.Itoa(g.number) {
			filled.texts = r.argument(text[at[4]:at[5]], text[at[6]:at[7]] != "", n, g, f)
		}
		parts = append(parts, fixed(text[from:at[0]]), filled)
		from = at[1]
	}
	return compose(append(parts, fixed(text[from:])))
}

// argument are the texts that a call gives to a parameter, which may be a format.
func (r *reader) argument(param string, format bool, n *ast.CallExpr, g, f *callable) []string {
	i, err := strconv.Atoi(param)
	if err != nil || i >= len(n.Args) || g.variadic && i == len(g.params)-1 {
		return variable() // a field of the receiver, or one of many
	}
	if format && g.variadic && i == len(g.params)-2 {
		return r.format(n, i, f)
	}
	texts := slices.Clone(r.text(n.Args[i], f))
	for i := range texts {
		if format {
			texts[i] = formatted(texts[i])
		}
	}
	return texts
}

// common is what all of the texts begin and end with, if that tells something.
func common(texts []string) []string {
	before, after := texts[0], texts[0]
	for _, text := range texts[1:] {
		for !strings.HasPrefix(text, before) {
			before = before[:len(before)-1]
		}
		for !strings.HasSuffix(text, after) {
			after = after[1:]
		}
	}
	switch {
	case before == texts[0] || after == texts[0]:
		return texts[:1]
	case tells(after):
		return []string{"…" + after}
	case tells(before):
		return []string{before + "…"}
	}
	return variable()
}

// bare shows … for what isn't known.
func bare(text string) string {
	text = strings.ReplaceAll(marked.ReplaceAllString(text, "…"), `"…"…`, `"…"`)
	for strings.Contains(text, "……") {
		text = strings.ReplaceAll(text, "……", "…")
	}
	return text
}
