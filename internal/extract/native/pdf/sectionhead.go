package pdf

import (
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// sectionMark matches the number of a section that is apart from its title.
var sectionMark = pattern.New(`^(§\s?)?\d{1,2}(\.\d{1,2})*\.?$`)

// maxHeadLines limits a heading, in lines.
const maxHeadLines = 4

// muchSmaller is how much smaller than a heading the text below it is that has several cells.
const muchSmaller = 0.87

// isSectionHead reports whether line i is the number and the title of a section, which are as far apart as the cells of
// a table: it is larger than the running text below it, or bold where that is not. A row of a table that is set so, as
// the name of a group, has other rows with cells below it.
func isSectionHead(lines []line, i int) bool {
	head := lines[i]
	cells := cellsOf(head)
	if len(cells) != 2 || len(cells[0].words) != 1 || !sectionMark.MatchString(cells[0].words[0].text) {
		return false
	}
	if first, _ := utf8.DecodeRuneInString(cells[1].words[0].text); !unicode.IsLetter(first) {
		return false
	}
	if mark := cells[0].words[0]; mark.bold != head.bold || !similar(mark.em(), head.size) { // the number of a line
		return false
	}
	for j := i + 1; j < min(len(lines), i+1+maxHeadLines); j++ {
		l := lines[j]
		switch {
		case l.drawn():
			return false
		case similar(l.size, head.size) && l.bold == head.bold, l.size > head.size: // the heading goes on, or another one follows
			continue
		}
		return l.size < muchSmaller*head.size || head.bold && !l.bold && len(cellsOf(l)) == 1
	}
	return false
}
