package devstack

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// The tour counts one thing as one, and repeats no sentence.
func TestWordsOfTheTour(t *testing.T) {
	t.Parallel()
	out := &bytes.Buffer{}
	d := &dev{out: &printer{w: out}}
	d.showWebhook(receiver.Delivery{
		Type: "task.completed", TaskID: "a",
		Body: []byte(`{"result": {"filename": "a.pdf", "pages": 1, "chunks": 1}}`),
	})
	var s summary
	if err := json.Unmarshal([]byte(`{"summary": "Cranes are parked.", "model": "offline", "extractive": true,
		"key_points": [{"text": "Cranes are parked.", "pages": [3]}]}`), &s); err != nil {
		t.Fatal(err)
	}
	d.showSummary(s)
	text := out.String()
	for _, want := range []string{"a, 1 page, 1 chunk\n", "Cranes are parked. (page 3)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "Cranes are parked."); n != 1 {
		t.Errorf("the sentence is there %d times:\n%s", n, text)
	}
}

func TestAboutSchema(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]schema.Report{
		"public is at version 22":                   {Schema: "public", From: 22, To: 22},
		"public was created at version 22":          {Schema: "public", To: 22, Applied: []string{"a"}},
		"public was migrated from version 20 to 22": {Schema: "public", From: 20, To: 22, Applied: []string{"a"}},
	} {
		if got := aboutSchema(r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// What the tour says of a step stays within 120 columns, and its next lines are below its text.
func TestWidthOfTheTour(t *testing.T) {
	t.Parallel()
	out := &bytes.Buffer{}
	d := &dev{out: &printer{w: out}}
	d.out.done("worker", strings.Repeat("with words ", 30)+"and the last")
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i, line := range lines {
		if n := utf8.RuneCountInString(line); n > 120 || i > 0 && !strings.HasPrefix(line, strings.Repeat(" ", 16)+"w") {
			t.Errorf("%d columns: %q", n, line)
		}
	}
	if len(lines) != 4 || !strings.HasSuffix(lines[3], "and the last") {
		t.Errorf("%q", lines)
	}
}
