package contract_test

import (
	"bytes"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/deck"
	"github.com/seed-7227ef26/async-worker/internal/deck/compose"
	"github.com/seed-7227ef26/async-worker/internal/deck/decktest"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/test/contract/published"
)

// TestDecks: what we write as a deck is what the published schema says: of a presentation, of a document, and an empty
// one.
func TestDecks(t *testing.T) {
	t.Parallel()
	read, _ := decktest.Read(t, decktest.PPTX(t, decktest.Sample(t)))
	document, err := compose.Document(t.Context(), &extract.Document{Blocks: []extract.Block{
		{Kind: extract.Heading, Text: "One", Level: 1},
		{Kind: extract.Paragraph, Text: "a"},
		{Kind: extract.ListItem, Text: ""},
		{Kind: extract.TableKind, Table: &extract.Table{Rows: [][]extract.Cell{{{Text: "1"}, {Text: ""}}, {{Text: "2"}}}}},
	}}, nil, compose.Options{Filename: "a.md"})
	if err != nil {
		t.Fatal(err)
	}
	schema := published.Deck(t)
	for name, d := range map[string]*deck.Deck{
		"sample": decktest.Sample(t), "presentation": read, "document": document, "empty": deck.New(""),
	} {
		var out bytes.Buffer
		if err := deck.Write(&out, d); err != nil {
			t.Fatal(err)
		}
		if problem := published.Problem(schema, out.String()); problem != "" {
			t.Errorf("%s: %.600s", name, problem)
		}
	}
	if published.Problem(schema, `{"version":1}`) == "" {
		t.Error("a deck without slides is valid")
	}
}
