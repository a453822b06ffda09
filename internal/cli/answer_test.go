package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// answering is a job whose answer came in pieces.
func answering() *rows {
	r := watched("ask")
	r.jobs[0].Type = "agent"
	piece := func(metadata, message string) store.JobEvent {
		return store.JobEvent{
			Stage: "streaming_response", Progress: 40, Message: message, Metadata: json.RawMessage(metadata),
		}
	}
	r.happen("ask", job.Succeeded, piece(`{"delta":"Let me\nlook."}`, ""),
		piece(`{"delta":"At \u001b[31m22","restart":true}`, ""),
		piece(`{"delta":" m/s [1]."}`, ""), piece(`{"other":1}`, "step 2: finish"))
	r.jobs[0].Result = json.RawMessage(`{"answer":"At 22 m/s [1].\nOr so.","citations":[{"filename":"a.pdf","page":3,"quote":"at 22\nm/s"}],"warnings":["careful"]}`)
	return r
}

// Watching a job shows its streamed answer, then the complete answer.
func TestWatchShowsTheAnswer(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := followerOf(answering()).all(t.Context(), []string{"ask"}, &plainLines{w: &out}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"40%  streaming_response  » Let me look.\n", "» (restarted) At [31m22\n", "» m/s [1].\n",
		"streaming_response  step 2: finish\n",
		"\n\n  At 22 m/s [1].\n  Or so.\n  [1] a.pdf, page 3: “at 22 m/s”\n  warning: careful\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out.String())
		}
	}
	out.Reset()
	b := newBars(&out, false, 200)
	if err := followerOf(answering()).all(t.Context(), []string{"ask"}, b); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(out.String(), "\n  At 22 m/s [1].\n  Or so.\n  [1] a.pdf, page 3: “at 22 m/s”\n  warning: "+
		"careful\n") {
		t.Errorf("bars: %q", out.String())
	}
	out.Reset()
	if err := printHistory(&out, jobHistory{Job: answering().jobs[0], Events: answering().events["ask"]}); err != nil ||
		!strings.Contains(out.String(), "\nANSWER\n  At 22 m/s [1].\n") ||
		!strings.Contains(out.String(), "an answer, below") || !strings.Contains(out.String(), "» (restarted) At") {
		t.Errorf("%v: %s", err, out.String())
	}
	one := &bar{}
	for _, c := range []struct{ metadata, want string }{
		{`{"delta":"` + strings.Repeat("word ", 30) + `"}`, "…"},
		{`{"delta":"again","restart":true}`, "again"},
		{`{"delta":" more"}`, "again more"},
		{`null`, "again more"},
	} {
		got := one.update(store.JobEvent{Stage: "s", Metadata: json.RawMessage(c.metadata)})
		if !strings.HasPrefix(got, c.want) || len([]rune(got)) > 62 {
			t.Errorf("after %s: %q, want %q", c.metadata, got, c.want)
		}
	}
}
