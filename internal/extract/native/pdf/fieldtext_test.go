package pdf

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/content"
)

// TestTextFields: the text of a field goes on the line of its label. Text of the form in a field's area stays, and so do several
// lines. The text of another field is no label.
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
	add(10, 330, "1.")
	for i, value := range []string{"Alice", "Berlin", "12", "first"} {
		add(70, 101+30*float64(i), value)
	}
	add(112, 101, "Miller")
	add(70, 204, "second")
	add(300, 221, "away")
	add(60, 331, "Alice")
	add(110, 331, "room")
	var fields []box
	for i := range 5 {
		left := 60.0
		if i == 4 {
			left = 290
		}
		fields = append(fields, box{left, 97 + 30*float64(i), 400, 117 + 30*float64(i)})
	}
	fields[3].bottom = 220
	fields = append(fields, box{55, 327, 104, 347}, box{105, 327, 200, 347})
	p.fillTexts(fields)
	var got []string
	for _, w := range p.words {
		got = append(got, fmt.Sprint(w.text, w.segment))
	}
	want := []string{
		"Name:0", "Alice0", "Miller0", "City:1", "Berlin1", "Price:2", "122", "Notes:3", "Far:4", "$5",
		"Signature6", "1.7", "Alice7", "first11", "second13", "away14", "room16",
	}
	if !slices.Equal(got, want) {
		t.Errorf(" got %v\nwant %v", got, want)
	}
}

// TestSignsBesideLabels: the sign of a box to tick is in the cell of its label, as far from it as a word, and in place of a mark in
// the box, however large that is.
func TestSignsBesideLabels(t *testing.T) {
	t.Parallel()
	p := &page{words: []word{
		{box: box{100, 50, 120, 62}, style: style{size: 10}, text: "oui"},
		{box: box{200, 100, 220, 112}, style: style{size: 10}, text: "non", segment: 1},
		{box: box{60, 150, 80, 170}, style: style{size: 20}, text: "✔", segment: 2},
	}}
	p.label(button{box: box{140, 50, 160, 62}})
	p.label(button{box: box{170, 100, 180, 112}, on: true})
	large := content.Box{Left: 50, Top: 147, Right: 90, Bottom: 172}
	p.fillFields(&content.Links{Fields: []content.Field{{Box: large, Button: true, On: true}}})
	var got []string
	for _, w := range p.words {
		got = append(got, fmt.Sprintf("%s %.0f-%.0f", w.text, w.left, w.right))
	}
	want := []string{"oui 100-120", "☐ 122-130", "☒ 190-198", "non 200-220", "☒ 50-90"}
	if !slices.Equal(got, want) {
		t.Errorf(" got %v\nwant %v", got, want)
	}
}

// TestSignsAreNoText: the signs of a form's boxes do not count for the size of the running text.
func TestSignsAreNoText(t *testing.T) {
	t.Parallel()
	s := newStats()
	s.add(&page{words: []word{
		{style: style{size: 8}, text: "four"}, {style: style{size: 12}, text: "two"}, {style: style{size: 12}, text: string(unticked)},
	}})
	if got := s.body(); got != 8 {
		t.Errorf("got %v", got)
	}
}
