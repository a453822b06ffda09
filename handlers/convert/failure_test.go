package convert_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/convert"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// outage is a model that is asked four questions at once and is busy for the one about Basin A. It answers the others
// after that, and records their contexts.
type outage struct {
	writer
	four sync.WaitGroup
	busy chan struct{} // closed with the failure
	down bool          // for all questions

	mu       sync.Mutex
	contexts []context.Context
}

func newOutage(down bool) *outage {
	o := &outage{writer: writer{reply: parrot}, busy: make(chan struct{}), down: down}
	o.four.Add(4)
	return o
}

func (o *outage) Ask(ctx context.Context, q llm.Question) (llm.Answer, error) {
	a, err := o.writer.Ask(ctx, q)
	o.four.Done()
	o.four.Wait()
	failure := taskerr.Errorf(taskerr.ModelOverloaded, "busy")
	if o.down {
		return llm.Answer{}, failure
	}
	if strings.Contains(q.Text, "under: Basin A\n") {
		close(o.busy)
		return llm.Answer{}, failure
	}
	<-o.busy
	o.mu.Lock()
	o.contexts = append(o.contexts, ctx)
	o.mu.Unlock()
	return a, err
}

// TestFailureStopsNoOtherCall: when one question fails, those in progress, which are paid for, go on, and the next
// attempt has their answers.
func TestFailureStopsNoOtherCall(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	b.Put("report.md", sections(4, 3000))
	call := b.Begin(`{"filename":"report.md"}`, task.Hints{})
	d, m := modelled(b, nil), newOutage(false)
	d.Chat = m
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := convert.New(d).Handle(ctx, call); taskerr.Classify(err).Class != taskerr.ModelOverloaded || len(m.asked) != 4 {
		t.Fatalf("%d questions, %v", len(m.asked), err)
	}
	for _, ctx := range m.contexts {
		if ctx.Err() != nil {
			t.Error("a call in progress was canceled by the failure of another")
		}
	}
	again := &writer{reply: parrot}
	d.Chat = again
	out, err := convert.New(d).Handle(t.Context(), handlers.Call{
		Task: call.Task, Holder: call.Holder, Attempt: 2, Checkpoint: call.Progress.(*handlertest.Progress).Pending,
		Progress: &handlertest.Progress{},
	})
	if err != nil || len(again.asked) != 1 {
		t.Fatalf("the next attempt asked %d times: %v", len(again.asked), err)
	}
	b.Complete(call, out, &convert.Result{})
	if cancel(); len(m.contexts) != 3 || !errors.Is(m.contexts[0].Err(), context.Canceled) {
		t.Error("the end of the task stops no call")
	}
}

// TestFailureStartsNoCall: after a failure no other question is asked.
func TestFailureStartsNoCall(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	b.Put("report.md", sections(9, 3000))
	d, m := modelled(b, nil), newOutage(true)
	d.Chat = m
	_, err := convert.New(d).Handle(t.Context(), b.Begin(`{"filename":"report.md"}`, task.Hints{}))
	if taskerr.Classify(err).Class != taskerr.ModelOverloaded || len(m.asked) != 4 {
		t.Errorf("%d questions, %v", len(m.asked), err)
	}
}

// TestTokensOfAllAttempts: an attempt has the tokens that the earlier ones left.
func TestTokensOfAllAttempts(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	b.Put("report.md", sections(2, 2400))
	begun, paid := make(chan struct{}), make(chan struct{}) // the question about Basin A, the answer about Basin B
	m := &writer{reply: func(q llm.Question) (llm.Answer, error) {
		if strings.Contains(q.Text, "under: Basin A\n") {
			close(begun)
			<-paid
			return llm.Answer{}, taskerr.Errorf(taskerr.ModelOverloaded, "busy")
		}
		<-begun
		defer close(paid)
		a, err := parrot(q)
		a.PromptTokens, a.CompletionTokens = 8000, 1000
		return a, err
	}}
	d := modelled(b, m)
	d.MaxTokens = 13_000
	call := b.Begin(`{"filename":"report.md"}`, task.Hints{})
	if _, err := convert.New(d).Handle(t.Context(), call); taskerr.Classify(err).Class != taskerr.ModelOverloaded || len(m.asked) != 2 {
		t.Fatalf("%d questions, %v", len(m.asked), err)
	}
	call.Checkpoint = call.Progress.(*handlertest.Progress).Pending
	out, err := convert.New(d).Handle(t.Context(), call)
	if err != nil || len(m.asked) != 2 {
		t.Fatalf("the next attempt asked %d times: %v", len(m.asked)-2, err)
	}
	var r convert.Result
	b.Complete(call, out, &r)
	if w := strings.Join(r.Warnings, " "); !strings.Contains(w, "MAX_TASK_TOKENS") {
		t.Errorf("warnings %q", w)
	}
}
