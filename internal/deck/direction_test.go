package deck_test

import (
	"encoding/json"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
)

// TestRightToLeft: the first letter of a text says its direction; digits and marks don't.
func TestRightToLeft(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "12": false, "Harbour عربي": false, "ميناء Harbour": true, "12. (ميناء)": true, "אורך 240": true, "٢٤٠": false, "– a": false,
	} {
		if got := deck.RightToLeft(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestRestyleKeepsDirections: text of a template that is written from right to left is so in the look of another one,
// and begins at the right there, unless it is centered or aligned.
func TestRestyleKeepsDirections(t *testing.T) {
	t.Parallel()
	from, look := deck.New("a"), deck.New("b")
	style := func(d *deck.Deck, role deck.Role, st deck.Style) {
		for i := range d.Layouts {
			if p := d.Layouts[i].Placeholder(role, 1); p != nil {
				p.Styles = []deck.Style{st}
			}
		}
	}
	style(from, deck.TitleRole, deck.Style{RTL: true, Align: deck.AlignRight})
	style(from, deck.BodyRole, deck.Style{RTL: true, Align: deck.AlignRight})
	style(look, deck.TitleRole, deck.Style{Align: deck.AlignCenter})
	style(look, deck.BodyRole, deck.Style{Align: deck.AlignLeft})
	body := deck.Lines("ميناء", "Harbour", "ميناء")
	body.Paragraphs[1].RTL = new(false)
	body.Paragraphs[2].Align = deck.AlignJustify
	from.Slides = []deck.Slide{{Layout: "content", Elements: []deck.Element{
		{Kind: deck.TextElement, Role: deck.TitleRole, Text: deck.Lines("ميناء")},
		{Kind: deck.TextElement, Role: deck.BodyRole, Index: 1, Text: body},
	}}}
	got := deck.Restyle(from, look).Slides[0].Elements
	for i, want := range []deck.Paragraph{
		{RTL: new(true)}, {RTL: new(true), Align: deck.AlignRight}, {RTL: new(false)}, {RTL: new(true), Align: deck.AlignJustify},
	} {
		p := append(got[0].Text.Paragraphs[:1:1], got[1].Text.Paragraphs...)[i]
		if p.RTL == nil || *p.RTL != *want.RTL || p.Align != want.Align {
			t.Errorf("paragraph %d: %+v", i, p)
		}
	}
	if body.Paragraphs[0].RTL != nil {
		t.Error("the deck itself was changed")
	}
	if p := deck.Restyle(from, from).Slides[0].Elements[1].Text.Paragraphs[0]; p.RTL != nil || p.Align != "" {
		t.Errorf("in a look of the same direction: %+v", p)
	}
}

// TestDirectionsOfStoredDecks: a paragraph that says its direction, or nothing, as decks of versions before do, has that of
// its own, or else of its style.
func TestDirectionsOfStoredDecks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{`{"runs":[],"rtl":true}`: {true, true}, `{"runs":[]}`: {false, true}, `{"runs":[],"rtl":false}`: {}} {
		var p deck.Paragraph
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{p.RightToLeft(deck.Style{}), p.RightToLeft(deck.Style{RTL: true})}; got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
		if again, err := json.Marshal(p); err != nil || string(again) != text {
			t.Errorf("%s is written as %s: %v", text, again, err)
		}
	}
}
