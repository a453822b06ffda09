package pdf

import "testing"

// TestBoxesOfItems: whether the box before an item is ticked is part of its text; a bullet isn't.
func TestBoxesOfItems(t *testing.T) {
	t.Parallel()
	for mark, want := range map[string]string{
		"•": "Yes", "☐": "☐ Yes", "\uF0FE": "☑ Yes", "\uF0FD": "☒ Yes", "\uF078": "☒ Yes", "\uF0A7": "Yes",
	} {
		l := lineOf("0:"+normalize(mark), "20:Yes")
		starts, marker := (&splitter{}).starts(region{lines: []line{l}}, 0, nil, 12)
		p := &piece{marker: marker, lines: []line{l}}
		if got := p.text(joinTexts); !starts || marker != bulletMarker || got != want {
			t.Errorf("%+q: got %q, want %q", mark, got, want)
		}
	}
}
