package pdf

import "testing"

// TestRaisedEndings: the raised ending of an ordinal number belongs to it; a unit and the mark of a note don't.
func TestRaisedEndings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		number, raised string
		bottom         float64
		want           string
	}{
		{"25", "th", 9, "25th day"},
		{"1", "st,", 9, "1st, day"},
		{"1", "er", 9, "1er day"},
		{"25", "a", 9, "25 a day"},
		{"25", "th", 12, "25 th day"},
		{"x", "th", 9, "x th day"},
	} {
		words := []word{
			{box: box{0, 0, 10, 12}, style: style{size: 10}, text: tt.number},
			{box: box{10.8, tt.bottom - 7, 16, tt.bottom}, style: style{size: 6}, text: tt.raised},
			{box: box{20, 0, 40, 12}, style: style{size: 10}, text: "day"},
		}
		if got := joinWords(words); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
