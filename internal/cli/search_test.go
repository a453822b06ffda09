package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/search"
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
	if err := PrintHits(&b, []search.Hit{{Hit: store.Hit{Filename: "a.md", Content: strings.Repeat("word ", 100)}}}); err != nil {
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

// An explanation fits 120 columns, whatever the file's name.
func TestExplained(t *testing.T) {
	t.Parallel()
	rate, part := 0.123456, 0.98
	full := search.Hit{
		Hit: store.Hit{Filename: strings.Repeat("long-name", 9), Pages: []int{1234}, Score: 0.98765},
		Why: &search.Why{Place: 100, StoreScore: 0.4321, Rate: &rate, Legs: &store.Legs{
			Method: "fusion", Weights: map[string]float64{"words": 0.5, "meaning": 0.5},
			Words: &store.Leg{Place: 100, Score: 12.5}, Meaning: &store.Leg{Place: 100, Score: -0.55}, Pieces: &part, Pairs: &part,
		}},
	}
	bare := search.Hit{Hit: store.Hit{Filename: "a.md"}, Why: &search.Why{Place: 2}}
	var b strings.Builder
	if err := printExplained(&b, []search.Hit{full, bare, {}}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(line); n > maxLineWidth+1 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"0.9877", "100. 12.50", "100. -0.55", "100. 0.4321", "0.12", "meaning 0.5, words 0.5"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// A search that can find nothing is refused, with the names of the flags.
func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	s := searching{Query: search.Query{Text: "x", Limit: 5}, from: "2024-03-01", to: "2024-02-01"}
	if err := s.check(); err == nil || !strings.Contains(err.Error(), "--from is later than --to") {
		t.Error(err)
	}
	s.to = s.from // the whole day
	if err := s.check(); err != nil {
		t.Error(err)
	}
	err := wrongQuery(fmt.Errorf("search: %w", &search.InvalidError{Field: "query", Problem: "is long", Remedy: "cut it"}))
	if err == nil || !strings.Contains(err.Error(), "the query is long") {
		t.Error(err)
	}
}

// A server that answers with a page of its own can be reached: the remedy is about its address.
func TestSearchOfAnotherServer(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>hello</html>")
	}))
	defer page.Close()
	var out, errOut bytes.Buffer
	p := &program{
		env: testEnv("DATABASE_URL=postgres://worker@"+silent(t)+"/db", "LLM_PROVIDER=openai", "OPENAI_API_KEY=k",
			"OPENAI_BASE_URL="+page.URL),
		stdin: strings.NewReader(""), stdout: &out, stderr: &errOut, open: app.Open,
	}
	r := result{p.run(t.Context(), []string{"search", "cranes"}), out.String(), errOut.String()}
	r.want(t, exitUnavailable, "something other than embeddings",
		"the service at "+strings.TrimPrefix(page.URL, "http://"), "is OPENAI_BASE_URL the whole address")
	if strings.Contains(r.errOut, "reachable?") {
		t.Error(r.errOut)
	}
}
