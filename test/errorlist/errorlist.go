// Package errorlist looks for an error sentence in docs/errors.md.
package errorlist

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// List has the rows of the page.
type List struct{ rows []row }

// Read reads the page.
func Read(t testing.TB, path string) List {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var l List
	for line := range strings.Lines(string(text)) {
		cells, ok := strings.CutPrefix(line, "| ")
		if !ok || strings.HasPrefix(cells, "error |") {
			continue
		}
		parts := strings.Split(strings.ReplaceAll(cells, `\|`, "\x00"), "|")
		if len(parts) != 4 {
			t.Fatalf("a row without three cells: %s", line)
		}
		l.rows = append(l.rows, newRow(strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1])))
	}
	if len(l.rows) < 1000 {
		t.Fatalf("%s has %d rows: the search is broken", path, len(l.rows))
	}
	return l
}

var code = regexp.MustCompile("^`[A-Z_…]+`: ")

// row is an error with or without what to do. Each … stands for any text.
type row struct {
	text, remedy string
	whole        *regexp.Regexp
	open         int // how many … the error has
}

func newRow(text, remedy string) row {
	text = code.ReplaceAllString(text, "")
	shown := remedy
	if remedy != "" {
		remedy = `(?:[;:] ` + pattern(remedy) + `(: .*| \(.*\))?)?` // a cause may follow
	}
	return row{text, shown, regexp.MustCompile(`(?s)^(` + pattern(text) + `)` + remedy + `$`), strings.Count(text, "…")}
}

func pattern(cell string) string {
	cell = strings.NewReplacer("\x00", "|", "&lt;", "<").Replace(cell)
	return strings.ReplaceAll(regexp.QuoteMeta(cell), "…", "(.*?)")
}

// Has reports whether a row has the sentence. A row that leaves more than half of it open counts only if it ends with a
// cause that another row has.
func (l List) Has(sentence string) bool {
	for _, r := range l.rows {
		groups := r.whole.FindStringSubmatch(sentence)
		if groups == nil {
			continue
		}
		text, filled := groups[1], groups[2:2+r.open]
		if told(text, filled) || told(sentence, groups[2:]) {
			return true
		}
		if head, cause, ok := strings.Cut(text, ": "); ok && head != "" && groups[1+r.open] == cause && l.Has(cause) {
			return true
		}
	}
	return false
}

// Pairs reports whether an error that begins with a text has a remedy with another in it.
func (l List) Pairs(text, remedy string) bool {
	return slices.ContainsFunc(l.rows, func(r row) bool {
		return strings.HasPrefix(r.text, text) && strings.Contains(r.remedy, remedy)
	})
}

// told reports whether at least half of a text is not what is filled in. A name counts as a short one.
func told(text string, filled []string) bool {
	fixed, open := len(text), 0
	for _, value := range filled {
		fixed -= len(value)
		if strings.Contains(value, " ") {
			open += len(value)
		} else {
			open += min(len(value), 24)
		}
	}
	return open <= fixed
}
