package cli

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// A snippet has the words of a chunk, without the Markdown of headings, tables and emphasis.
func TestSnippets(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]string{
		"## Storm\n\nAt **45 knots** it is red.":                  "Storm At 45 knots it is red.",
		"| berth | length |\n|---|---:|\n| A1 | 120 |":            "berth length A1 120",
		"C# and issue #12, a|b, 2--3 and a --- dash, 2 ** 3 ** 4": "C# and issue #12, a|b, 2--3 and a --- dash, 2 ** 3 ** 4",
	} {
		if got := snippetOf(markdown); got != want {
			t.Errorf("%q becomes %q, want %q", markdown, got, want)
		}
	}
	var b strings.Builder
	if err := PrintHits(&b, []store.Hit{{Filename: "a.md", Content: strings.Repeat("word ", 100)}}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if len(line) > maxLineWidth+1 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// An answer that is a quotation is not repeated by its citation.
func TestQuotationOnce(t *testing.T) {
	t.Parallel()
	lines := strings.Join(answerOf(store.Job{
		Type: "agent", Result: []byte(`{"answer": "a.pdf, page 4:\n“It is\nred.” [1]",
			"citations": [{"filename": "a.pdf", "page": 4, "quote": "It is red."}]}`),
	}), "\n")
	if strings.Contains(lines, "“It is red.”") || !strings.Contains(lines, "[1] a.pdf, page 4") {
		t.Error(lines)
	}
}
