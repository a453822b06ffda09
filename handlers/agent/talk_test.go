package agent_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// What a model says beside its calls is left out in time, too: it must not fill the context, which would lose all that
// was paid for, and blame the prompt.
func TestTalkativeModel(t *testing.T) {
	t.Parallel()
	bed := newBench(t, nil)
	bed.document("harbour", "a.pdf", wind)
	for name, say := range map[string]func(n int) llm.Answer{
		"text": func(n int) llm.Answer {
			a := call("grep", object{"document": "a.pdf", "pattern": strings.Repeat("x", n)})
			a.Text = strings.Repeat("I wonder how deep it is. ", 150)
			return a
		},
		"arguments": func(n int) llm.Answer {
			return call("grep", object{"document": "a.pdf", "pattern": strings.Repeat("wind or water ", 300+n)})
		},
		"all at once": func(int) llm.Answer {
			a := call("grep", object{"document": "a.pdf", "pattern": strings.Repeat("wind or water ", 2_000)})
			a.Text = strings.Repeat("I wonder how deep it is. ", 2_000)
			return a
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			b := bed.with(t, func(n int, q llm.Question) llm.Answer {
				if q.Force != "" {
					return finish("At 22 m/s.")
				}
				return say(n)
			})
			b.deps.Window = 8000
			j := &handlertest.Progress{}
			r, err := b.try(agent.New(b.deps), `{"prompt":"How deep?"}`, j)
			if err != nil || r.Text != "At 22 m/s." {
				t.Fatalf("after %d answers: %+v, %v", len(b.model.questions), r, err)
			}
			for i, q := range b.model.questions {
				tokens := b.deps.Counter.Count(q.System) + q.MaxTokens
				for _, turn := range q.Turns {
					tokens += b.deps.Counter.Count(turn.Text)
					for _, c := range turn.Calls {
						tokens += b.deps.Counter.Count(c.Arguments)
					}
				}
				if tokens > b.deps.Window {
					t.Errorf("question %d has %d tokens with its answer", i+1, tokens)
				}
			}
		})
	}
}

// A context that not even the instructions fit into is said to be too small.
func TestTinyContext(t *testing.T) {
	t.Parallel()
	bed := newBench(t, nil)
	for name, window := range map[string]int{"as set": 1000, "as the service says": 0} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			b := bed.with(t, func(int, llm.Question) llm.Answer { return finish("x") })
			b.model.errs = map[int]error{
				1: &taskerr.Error{Class: taskerr.ValidationError, Message: "too long", Cause: &llm.TooLong{Window: 1000}},
			}
			b.deps.Window = cmp.Or(window, b.deps.Window)
			_, err := b.try(agent.New(b.deps), `{"prompt":"How deep?","history":[{"role":"user","content":"hi"}]}`,
				&handlertest.Progress{})
			if failure := taskerr.Classify(err); failure.Code != "AGENT_PROMPT_TOO_LONG" ||
				!strings.Contains(failure.Message, "OPENAI_CHAT_CONTEXT") {
				t.Errorf("%v", err)
			}
		})
	}
}
