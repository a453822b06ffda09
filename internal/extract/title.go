package extract

import (
	"path"
	"strings"
	"unicode"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// noTitle matches what programs write as a title: their own name, a file name, nothing.
var noTitle = pattern.New(`(?i)^(?:` +
	`untitled.*|unbenannt.*|unknown|sans titre.*|sin título.*|senza titolo.*|no title|title|titel|titre|título|default|print|layout ?\d*|slide ?\d*|folie ?\d*|` +
	`(?:new )?document ?\d*|neues dokument ?\d*|dokument ?\d*|presentation ?\d*|präsentation ?\d*|mappe ?\d*|book ?\d*|sheet ?\d*|` +
	`microsoft (?:word|powerpoint|excel|office)\b.*|powerpoint[ -].*|word document|\(?anonymous\)?|about:blank|https?://\S*|(?:\S*/)?index|` +
	`.*\.(?:docx?|docm|dotx?|pdf|pptx?|potx?|xlsx?|xlsm|od[tspg]|rtf|indd|tex|dvi|txt|html?|xhtml|qxd|pmd|p65|fm|ps|eps|cdr|ai|pub|wpd|xps|tmp|md|csv|epub|pages|key|numbers)|` +
	`.*[/\\]\S+\.\w{2,4})$`)

// StatedTitle returns the title that a document states, or "" if a program generated it.
func StatedTitle(title string) string {
	title = strings.Join(strings.Fields(Clean(title)), " ")
	if strings.IndexFunc(title, unicode.IsLetter) < 0 || noTitle.MatchString(title) {
		return ""
	}
	return title
}

// titleOf is StatedTitle, but returns "" for the name of the file itself.
func titleOf(title, name string) string {
	title = StatedTitle(title)
	base := path.Base(name)
	if strings.EqualFold(title, base) || strings.EqualFold(title, strings.TrimSuffix(base, path.Ext(base))) &&
		!strings.Contains(title, " ") {
		return ""
	}
	return title
}
