package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// A summary is text to read, and what can't be trusted of it stands beside it.
func TestPrintResult(t *testing.T) {
	t.Parallel()
	j := store.Job{Type: "summarize", Result: json.RawMessage(
		`{"summary":"It rises\u001b[31m.\nTwice.","model":"m","prompt_tokens":100,"completion_tokens":7,
		"key_points":[{"text":"` + strings.Repeat("word ", 30) + `","pages":[3,4],"unverified":[{"kind":"number","text":"12 %"}]}],
		"left_out":[{"heading":"A","pages":[5],"reason":"refused"}],"warnings":["cut"]}`)}
	var b strings.Builder
	if err := printResult(&b, j); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"SUMMARY\n  It rises", "\n  Twice.\n", "\n  - word", "\n    word", "(page 3, 4)",
		"! the number “12 %” is not in the cited text", "! left out (page 5): A — refused", "! cut",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("a control character reached the terminal")
	}
	if got := shortResult(j); got != "a summary by m, 100 + 7 tokens; all of it: -o json" {
		t.Errorf("on a line: %s", got)
	}
	b.Reset()
	j.Type, j.Result = "ingest", json.RawMessage(`{"chunks":1,"summary":"x"}`)
	if err := printResult(&b, j); err != nil || b.Len() > 0 || shortResult(j) != string(j.Result) {
		t.Errorf("of an ingest: %s, %v", b.String(), err)
	}
}
