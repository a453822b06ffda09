package pdf

import (
	"fmt"
	"slices"
	"testing"
)

// TestTextFields: the text of a field goes on the line of its label. Text of the form in a field's area stays, and so do several
// lines.
func TestTextFields(t *testing.T) {
	t.Parallel()
	p := &page{}
	add := func(left, top float64, text string) {
		n := len(p.words)
		p.words = append(p.words, word{
			box: box{left, top, left + 40, top + 12}, style: style{size: 10}, text: text, segment: n, order: n,
		})
	}
	for i, label := range []string{"Name:", "City:", "Price:", "Notes:", "Far:"} {
		add(10, 100+30*float64(i), label)
	}
	add(70, 160, "$") // of the form
	add(10, 300, "Signature")
	for i, value := range []string{"Alice", "Berlin", "12", "first"} {
		add(70, 101+30*float64(i), value)
	}
	add(112, 101, "Miller")
	add(70, 204, "second")
	add(300, 221, "away")
	var fields []box
	for i := range 5 {
		left := 60.0
		if i == 4 {
			left = 290
		}
		fields = append(fields, box{left, 97 + 30*float64(i), 400, 117 + 30*float64(i)})
	}
	fields[3].bottom = 220
	p.fillTexts(fields)
	var got []string
	for _, w := range p.words {
		got = append(got, fmt.Sprint(w.text, w.segment))
	}
	want := []string{
		"Name:0", "Alice0", "Miller0", "City:1", "Berlin1", "Price:2", "122", "Notes:3", "Far:4", "$5",
		"Signature6", "first10", "second12", "away13",
	}
	if !slices.Equal(got, want) {
		t.Errorf(" got %v\nwant %v", got, want)
	}
}
