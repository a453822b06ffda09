package flow_test

import (
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
)

// Notes follow the block that refers to them, also if it waits to be judged with others whether it is code.
func TestNotesOfTypedParagraphs(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		typed [2]string
		want  []string
	}{
		"text": {
			[2]string{"The first.", "The second."},
			[]string{"The first.", "[1] note", "The second.", "[2] note", "After.", "[3] note"},
		},
		"code": {
			[2]string{"def ferry(name):", "return name;"},
			[]string{"def ferry(name):\nreturn name;", "[1] note", "[2] note", "After.", "[3] note"},
		},
	} {
		var got []string
		w := flow.New(func(b extract.Block) error {
			got = append(got, b.Text)
			return nil
		}, 1000)
		add := func(text string, look flow.Look) {
			w.Cite(extract.Block{Text: "note"})
			w.Set(look)
			if err := w.Block(extract.Block{Kind: extract.Paragraph, Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range tt.typed {
			add(text, flow.Look{Typed: text})
		}
		add("After.", flow.Look{})
		if err := w.Flush(); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v; want %q", what, got, err, tt.want)
		}
	}
}
