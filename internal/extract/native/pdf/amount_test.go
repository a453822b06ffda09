package pdf

import (
	"strings"
	"testing"
)

// lineOf returns a line of words 10 points high, each at "left:text" in points; a letter is 5 points wide.
func lineOf(places ...string) line {
	var words []word
	for i, place := range places {
		at, text, _ := strings.Cut(place, ":")
		left := 0.0
		for _, r := range at {
			left = 10*left + float64(r-'0')
		}
		words = append(words, word{box: box{left, 0, left + 5*float64(len([]rune(text))), 12}, style: style{size: 10}, text: text, order: i})
	}
	return line{segments: []segment{newSegment(words)}}
}

// TestCellsOfAmounts: the sign of a currency is in the cell of the amount after it.
func TestCellsOfAmounts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ about, want string }{
		{"a sign far from its amount", "0:Cash 100:$ 150:1,234 200:$ 250:(5.2)=Cash|$ 1,234|$ (5.2)"},
		{"a sign close to the amount before", "0:Cash 100:$ 120:1,234 148:$ 190:987=Cash|$ 1,234|$ 987"},
		{"a sign close to the label", "0:Cash 25:$ 90:1,234=Cash|$ 1,234"},
		{"running text", "0:paid 25:$ 33:500 53:and 73:more=paid $ 500 and more"},
		{"signs behind amounts", "0:Prix 100:20 113:€ 150:30 163:€=Prix|20 €|30 €"},
		{"a sign behind an amount, and a percentage", "0:Prix 100:20 113:€ 150:19 163:%=Prix|20 €|19 %"},
		{"a sign behind an amount, and a number", "0:Kabel 100:20 113:€ 150:3=Kabel|20 €|3"},
		{"a number before a sign", "0:Note 100:5 150:$ 190:1,234=Note|5|$ 1,234"},
		{"nothing", "0:Cash 100:$ 150:— 200:US$ 250:7=Cash|$ —|US$ 7"},
		{"too far away", "0:Cash 100:$ 300:1,234=Cash|$|1,234"},
	} {
		places, want, _ := strings.Cut(tt.want, "=")
		var got []string
		for _, c := range cellsOf(lineOf(strings.Fields(places)...)) {
			got = append(got, joinWords(c.words))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%s: got %s, want %s", tt.about, s, want)
		}
	}
}

// TestCellBoxWithoutSign: the sign says nothing about where the column is.
func TestCellBoxWithoutSign(t *testing.T) {
	t.Parallel()
	cells := cellsOf(lineOf("100:$", "150:1,234"))
	if len(cells) != 1 || cells[0].left != 150 || cells[0].right != 175 {
		t.Errorf("got %+v", cells)
	}
}

func TestIsAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"1,234": true, "(5.2)": true, "—": true, "12%": true, "%": true, "-7": true, "": false, "12a": false, "(a)": false, "...": false,
	} {
		if got := isAmount(word{text: text}); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

// TestManyAmounts: a page of amounts without end takes no quadratic time.
func TestManyAmounts(t *testing.T) {
	t.Parallel()
	const many = 12_000 // words of a line
	var cells []cell
	for row := range 2 {
		var words []word
		for i := range many {
			text := "7"
			if i > many/2 && i%2 == 0 || i == many-1 {
				text = "$"
			}
			left := 20 * float64(i)
			words = append(words, word{box: box{left, 0, left + 5, 12}, style: style{size: 10}, text: text, order: i})
		}
		for _, c := range cellsOf(line{segments: []segment{newSegment(words)}}) {
			c.lineAt = row
			cells = append(cells, c)
		}
	}
	if n := len(columnCuts(cells, 2)); n < maxColumns {
		t.Errorf("got %d cuts", n)
	}
}
