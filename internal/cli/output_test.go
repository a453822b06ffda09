package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// JSON on a terminal shows what would act on it, and means the same.
func TestJSONOutputIsHarmless(t *testing.T) {
	t.Parallel()
	const hostile = "invoice\u009b2J\u202efdp.exe\u2069"
	var indented, line bytes.Buffer
	if err := printJSON(&indented, map[string]any{"filename": hostile, "payload": json.RawMessage(`{"a":"` + hostile +
		`"}`)}); err != nil {
		t.Fatal(err)
	}
	(&program{stdout: &line}).newDisplay(asJSON).ended(store.Job{ID: hostile})
	for _, out := range []string{indented.String(), line.String()} {
		if strings.ContainsAny(out, "\u009b\u202e\u2069") ||
			!strings.Contains(out, `invoice\u009b2J\u202efdp.exe\u2069`) {
			t.Errorf("printed %q", out)
		}
	}
	var got map[string]any
	if err := json.Unmarshal(indented.Bytes(), &got); err != nil || got["filename"] != hostile {
		t.Errorf("%v, %v", got, err)
	}
}
