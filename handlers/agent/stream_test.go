package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// The text of an earlier attempt is void also when the number is 1 again: after an attempt that was not counted (I9), and
// in another series.
func TestTextOfAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	bed := newBench(t, nil)
	const payload = `{"prompt":"How deep?"}`
	released := func(b *bench, h store.Holder) error {
		_, err := b.Store.Release(b.Context(), store.Release{Holder: h})
		return err
	}
	for name, c := range map[string]struct {
		kind  task.Type
		ended func(*bench, store.Holder) error
	}{
		"ai, not counted":    {task.AI, released},
		"agent, not counted": {task.Agent, released},
		"ai, another series": {task.AI, func(b *bench, h store.Holder) error {
			_, err := b.Store.Complete(b.Context(), store.Completion{Holder: h, Result: json.RawMessage(`{}`)})
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := bed.with(t, func(int, llm.Question) llm.Answer { return llm.Answer{Text: "Eight metres."} })
			h := agent.NewAI(b.deps)
			if c.kind == task.Agent {
				h = agent.New(b.deps)
				b.model.script = func(int, llm.Question) llm.Answer { return finish("Eight metres. ") }
			}
			id := strings.NewReplacer(",", "", " ", "-").Replace(name)
			first := b.BeginAs(id, c.kind, payload, task.Hints{})
			p := &handlertest.Progress{}
			p.Delta("Seven me", false) // as far as the first attempt came
			if err := c.ended(b, first.Holder); err != nil {
				t.Fatal(err)
			}
			again := b.BeginAs(id, c.kind, payload, task.Hints{Force: true})
			again.Progress = p
			if again.Attempt != 1 || again.Holder.Fence < 2 || again.Checkpoint != nil {
				t.Fatalf("the attempt is %+v", again)
			}
			if _, err := h.Handle(t.Context(), again); err != nil {
				t.Fatal(err)
			}
			if p.Restarts != 1 || p.Text != "Eight metres. " {
				t.Errorf("%d restarts, and a reader has %q", p.Restarts, p.Text)
			}
		})
	}
	b := bed.with(t, func(int, llm.Question) llm.Answer { return llm.Answer{Text: "Eight metres."} })
	p := &handlertest.Progress{}
	first := b.BeginAs("", task.AI, payload, task.Hints{})
	first.Progress = p
	if _, err := agent.NewAI(b.deps).Handle(t.Context(), first); err != nil || p.Restarts != 0 {
		t.Errorf("the first attempt at a job: %d restarts, %v", p.Restarts, err)
	}
}
