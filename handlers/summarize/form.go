package summarize

import (
	"fmt"
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/enrich"
)

// unmet returns the requests that an answer doesn't meet.
func (w *work) unmet(n *node, made *notes) []string {
	if n.order == nil {
		return nil
	}
	var unmet []string
	if n.order.style == Bullets && !strings.HasPrefix(strings.TrimSpace(made.Summary), "-") {
		unmet = append(unmet, `"summary" is to be a list of lines that begin with "- "`)
	}
	if most := w.payload.MaxWords; most != nil {
		if got := words(made.Summary); got > *most {
			unmet = append(unmet, fmt.Sprintf(`"summary" has %d words, and may have at most %d`, got, *most))
		}
	}
	if want := n.order.language; want != "" {
		if found := enrich.Detect(made.Summary).Code; found != enrich.Unknown && !sameLanguage(found, want) {
			unmet = append(unmet, fmt.Sprintf("it is in %s, and is to be in %s", languageName(found),
				languageName(want)))
		}
	}
	return unmet
}

// words counts the words of a text.
func words(text string) int {
	n := 0
	for range starts(text) {
		n++
	}
	return n
}

// starts are where the words of a text begin: runs of letters and digits, and each character of scripts without spaces.
func starts(text string) iter.Seq[int] {
	return func(yield func(int) bool) {
		within := false
		for i, r := range text {
			switch {
			case unicode.IsMark(r): // a part of the letter before it
			case unspaced(r):
				within = false
				if !yield(i) {
					return
				}
			case unicode.IsLetter(r), unicode.IsDigit(r):
				if !within && !yield(i) {
					return
				}
				within = true
			case within && (r == '\'' || r == '’' || r == '-' || r == '.' || r == ','): // it's, twenty-one, 1,234.5
			default:
				within = false
			}
		}
	}
}

// unspaced reports whether a letter is of a script without spaces.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// cutTo truncates a text to a number of words, after a sentence, or after a word if the first sentence is longer.
func cutTo(text string, most int, sentences func(string) []string) string {
	kept, rest := "", text
	for _, s := range sentences(text) {
		at := strings.Index(rest, s)
		if at < 0 {
			break
		}
		longer := kept + rest[:at+len(s)]
		if words(longer) > most {
			break
		}
		kept, rest = longer, rest[at+len(s):]
	}
	if kept = strings.TrimSpace(kept); words(kept) > 0 {
		return kept
	}
	return firstWords(text, most) + "…"
}

// firstWords returns the first words of a text that has more.
func firstWords(text string, most int) string {
	n := 0
	for i := range starts(text) {
		if n++; n <= most {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i:])
		text = text[:i]
		last, _ := utf8.DecodeLastRuneInString(text)
		if at := strings.LastIndexFunc(text, unicode.IsSpace); at > 0 && !unspaced(next) && !unspaced(last) {
			text = text[:at]
		}
		break
	}
	return strings.TrimSpace(text)
}

// bullet matches the start of a list item.
var bullet = regexp.MustCompile(`^\s*(?:[-*•–·]|\d{1,2}[.)])\s+`)

// bulleted makes a list of a text: of its lines, or, if it is not a list, of its sentences.
func bulleted(text string, sentences func(string) []string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) == 1 && !bullet.MatchString(text) {
		lines = sentences(text)
	}
	var out []string
	for _, line := range lines {
		if line = strings.TrimSpace(bullet.ReplaceAllString(line, "")); line != "" {
			out = append(out, "- "+line)
		}
	}
	return strings.Join(out, "\n")
}
