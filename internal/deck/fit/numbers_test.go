package fit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/typeset"
)

// outline makes a text of lines. Two spaces before one are a level; one that begins with "#" is an item of a numbered
// list, "#5" one that states its number, "#)" one of another scheme; any other is a paragraph between lists.
func outline(lines ...string) *deck.Text {
	t := &deck.Text{}
	for _, line := range lines {
		text := strings.TrimLeft(line, " ")
		p := deck.Paragraph{Level: (len(line) - len(text)) / 2, List: &deck.List{Kind: deck.NoList}}
		if item, ok := strings.CutPrefix(text, "#"); ok {
			p.List = &deck.List{Kind: deck.NumberList}
			if item, ok = strings.CutPrefix(item, ")"); ok {
				p.List.Scheme = "arabicParenR"
			}
			_, _ = fmt.Sscan(item, &p.List.Start) // 0 without a number
		}
		p.Runs = []deck.Run{{Text: text}}
		t.Paragraphs = append(t.Paragraphs, p)
	}
	return t
}

// markers are the markers of a text's paragraphs, without those that have none.
func markers(t *deck.Text) []string {
	var c typeset.Counter
	var all []string
	for _, p := range t.Paragraphs {
		if m := c.Next(p.List, p.Level); m != "" {
			all = append(all, fmt.Sprint(p.Level, ":", m))
		}
	}
	return all
}

// TestNumbersStay: wherever a text is cut, its items have the numbers that they have in the whole text.
func TestNumbersStay(t *testing.T) {
	t.Parallel()
	long := "#" + words(60, 0)
	for name, body := range map[string]*deck.Text{
		"two lists":            outline("#", "#", "#", "#", "#", "between", "#", "#", "#"),
		"two lists, as stated": outline("#1", "#2", "#3", "#4", "#5", "between", "#1", "#2", "#3"),
		"two schemes":          outline("#", "#", "#", "#", "#)", "#)", "#)", "#)"),
		"numbers left out":     outline("#1", "#3", "#4", "#8", "#9", "#12", "#13"),
		"nested":               outline("#", "  #", "  #", "  #", "#", "  #", "  #", "    #", "  #", "#", "  #"),
		"nested paragraphs":    outline("#", "  why", "#", "  #", "    how", "  #", "  then", "  #", "#", "  #"),
		"torn items":           outline("#", long, "#", long, "  "+long, "  #", "#", "between", "#", long, "#"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, most := markers(body), 0
			for height := int64(400_000); height <= 3_200_000; height += 100_000 {
				d := slide(deck.Element{Kind: deck.TextElement, Role: deck.BodyRole, Box: &deck.Box{W: 6_000_000, H: height}, Text: body})
				var got []string
				slides := fitted(t, d).Slides
				for _, s := range slides {
					got = append(got, markers(s.Elements[1].Text)...)
				}
				if !slices.Equal(got, want) {
					t.Errorf("on %d slides: %q, want %q", len(slides), got, want)
				}
				most = max(most, len(slides))
			}
			if most < 4 {
				t.Errorf("%d slides at most", most)
			}
		})
	}
}
