package pdf

import (
	"strings"
	"testing"
)

// A headline in a narrow column is no list of names.
func TestHeadlineInAColumn(t *testing.T) {
	t.Parallel()
	p := &piece{column: box{72, 0, 172, 800}}
	p.size = 12
	for i, text := range []string{"Harbour Master", "Opens Northern", "Quay Tomorrow"} {
		left, top := 72.0, 100+14*float64(i)
		var words []word
		for w := range strings.FieldsSeq(text) {
			right := left + 6*float64(len(w))
			words = append(words, word{box: box{left, top, right, top + 12}, text: w, style: style{size: 12}})
			left = right + 3
		}
		p.lines = append(p.lines, line{
			box: box{72, top, left - 3, top + 12}, segments: []segment{{words: words}}, all: words,
		})
	}
	if p.listsNames() {
		t.Error("the lines of a headline count as names")
	}
	p.column.right = 500
	if !p.listsNames() {
		t.Error("lines that end early don't count as names")
	}
}
