package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// A model that calls finish more than once in an answer may still correct it: only one of the calls counts. One with
// nothing wrong is taken at once.
func TestFinishesTwice(t *testing.T) {
	t.Parallel()
	bed := newBench(t, nil)
	chunk := bed.document("harbour", "handbook.pdf", wind)[0]
	both := func(first, second llm.Answer) llm.Answer {
		return llm.Answer{Calls: slices.Concat(first.Calls, second.Calls)}
	}
	formless, forged := call("finish", "{"), finish("23 [1]", chunk, "23 m/s")
	good := finish("22 [1]", chunk, "22 m/s")
	for name, c := range map[string]struct {
		first llm.Answer
		steps int // answers, with the search
	}{
		"without a form": {both(formless, formless), 3},
		"forged":         {both(forged, forged), 3},
		"of both kinds":  {both(forged, formless), 3},
		"then a good":    {both(forged, good), 2},
		"after a good":   {both(good, forged), 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := bed.with(t, func(n int, _ llm.Question) llm.Answer {
				return []llm.Answer{call("search", object{"query": "wind speed"}), c.first, good}[n-1]
			})
			r, err := b.try(agent.New(b.deps), `{"prompt":"x","document_set":"harbour"}`, &handlertest.Progress{})
			if err != nil || r.Text != "22 [1]" || len(r.Citations) != 1 || r.DroppedCitations != 0 ||
				len(b.model.questions) != c.steps {
				t.Fatalf("%+v after %d questions, %v", r, len(b.model.questions), err)
			}
			if c.steps < 3 {
				return
			}
			got := results(b.model.questions[2])
			if len(got) != 3 || !strings.Contains(got[1], "can't be taken yet") || !strings.HasPrefix(got[2], "(not taken: ") {
				t.Errorf("the model was told %q", got)
			}
		})
	}
}
