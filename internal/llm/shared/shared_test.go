package shared_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/llm/shared"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	answerTime = 80 * time.Millisecond // of the model
	poison     = "POISON"
)

// slow is the client of the model, each of whose answers takes answerTime.
type slow struct {
	llm.Embedder
	onCall func(inputs []string)
	mu     sync.Mutex
	calls  [][]string
	ends   []error // of calls whose context ended
}

func (s *slow) Embed(ctx context.Context, inputs []string) (llm.Embeddings, error) {
	s.mu.Lock()
	s.calls = append(s.calls, inputs)
	s.mu.Unlock()
	if s.onCall != nil {
		s.onCall(inputs)
	}
	select {
	case <-time.After(answerTime):
	case <-ctx.Done():
		s.mu.Lock()
		s.ends = append(s.ends, context.Cause(ctx))
		s.mu.Unlock()
		return llm.Embeddings{}, fmt.Errorf("embed: %w", context.Cause(ctx))
	}
	return s.Embedder.Embed(ctx, inputs)
}

func (s *slow) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type rig struct {
	*testing.T
	server *llmtest.Server
	direct llm.Embedder
	slow   *slow
	shared *shared.Embedder
}

// inRig runs a test in virtual time with the stand-in of the model.
func inRig(t *testing.T, f func(r *rig)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, server: llmtest.NewInProcess(llmtest.Options{Poison: poison})}
		direct, err := openai.New(openai.Config{
			BaseURL: r.server.URL(), APIKey: llmtest.Key, Dimensions: 64, HTTPClient: r.server.Client(),
		})
		if err != nil {
			t.Fatal(err)
		}
		r.direct, r.slow = direct, &slow{Embedder: direct}
		r.shared = shared.New(r.slow, token.New())
		f(r)
	})
}

// busy makes a call that is in flight until the answer; wait waits for it.
func (r *rig) busy() (wait func()) {
	var done sync.WaitGroup
	done.Go(func() {
		if _, err := r.shared.Embed(r.Context(), []string{"the first"}); err != nil {
			r.Error(err)
		}
	})
	synctest.Wait()
	return done.Wait
}

// inputsOf are those of one task; each is another text.
func inputsOf(task, n int) []string {
	var inputs []string
	for i := range n {
		inputs = append(inputs, fmt.Sprintf("text %d of task %d, with more words in some tasks %0*d", i, task, task+1, 7))
	}
	return inputs
}

// want checks that the vectors are those of the inputs.
func (r *rig) want(inputs []string, got llm.Embeddings, err error) {
	r.Helper()
	if err != nil {
		r.Error(err)
		return
	}
	alone, err := r.direct.Embed(r.Context(), inputs)
	if err != nil {
		r.Error(err)
		return
	}
	if !slices.EqualFunc(got.Vectors, alone.Vectors, slices.Equal[[]float32]) {
		r.Errorf("the vectors are not those of %q…", inputs[0])
	}
}

// Tasks at once share requests: each gets its own vectors, and what each pays adds up to the bill.
func TestTasksShareRequests(t *testing.T) {
	inRig(t, func(r *rig) {
		wait := r.busy()
		before := r.server.Tokens()
		const tasks = 12
		var got [tasks]llm.Embeddings
		var errs [tasks]error
		var all sync.WaitGroup
		for i := range tasks {
			all.Go(func() { got[i], errs[i] = r.shared.Embed(r.Context(), inputsOf(i, 40)) })
		}
		all.Wait()
		wait()
		calls, billed, sum := r.slow.count(), r.server.Tokens()-before, 0
		for i := range tasks {
			sum += got[i].Tokens
			if got[i].Tokens == 0 {
				r.Errorf("task %d paid nothing", i)
			}
		}
		first, err := r.direct.Embed(r.Context(), []string{"the first"})
		if err != nil {
			r.Fatal(err)
		}
		if sum+first.Tokens != billed {
			r.Errorf("the tasks paid %d tokens, and the service billed %d", sum, billed)
		}
		// 480 inputs of 12 tasks in two requests of 240, and the one before.
		if calls != 3 {
			r.Errorf("%d calls for %d tasks", calls, tasks)
		}
		for i := range tasks {
			r.want(inputsOf(i, 40), got[i], errs[i])
		}
	})
}

// A task alone waits for nobody; one beside another for the window at most; one that fills half a request does not wait.
func TestWindow(t *testing.T) {
	inRig(t, func(r *rig) {
		took := func(n int) time.Duration {
			before := time.Now()
			_, err := r.shared.Embed(r.Context(), inputsOf(1, n))
			if err != nil {
				r.Error(err)
			}
			return time.Since(before)
		}
		if d := took(1); d != answerTime {
			r.Errorf("alone: %v", d)
		}
		wait := r.busy()
		if d := took(1); d != shared.Window+answerTime {
			r.Errorf("beside another: %v", d)
		}
		wait()
		wait = r.busy()
		if d := took(200); d != answerTime {
			r.Errorf("a large one beside another: %v", d)
		}
		wait()
		wait = r.busy()
		time.Sleep(answerTime - time.Millisecond) // the other one ends within the window
		if d := took(1); d != time.Millisecond+answerTime {
			r.Errorf("when the other one ends: %v", d)
		}
		wait()
	})
}

// An input that the service refuses fails its own task, by its place there, and not those that share the request.
func TestBadInputFailsItsOwnTask(t *testing.T) {
	inRig(t, func(r *rig) {
		wait := r.busy()
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				inputs := inputsOf(i, 10)
				if i == 2 {
					inputs[7] += poison
				}
				got, err := r.shared.Embed(r.Context(), inputs)
				if i != 2 {
					r.want(inputs, got, err)
					return
				}
				bad, ok := errors.AsType[*openai.InputError](err)
				if !ok || bad.Index != 7 || taskerr.Classify(err).Class != taskerr.ValidationError {
					r.Errorf("the error is %v", err)
				}
			})
		}
		all.Wait()
		wait()
		if n := r.slow.count(); n != 1+1+4 {
			r.Errorf("%d calls, want the first, the shared one and one for each task", n)
		}
	})
}

// A fault of the service is that of all tasks that share the request.
func TestOutageFailsAll(t *testing.T) {
	inRig(t, func(r *rig) {
		wait := r.busy()
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				if _, err := r.shared.Embed(r.Context(), inputsOf(i, 2)); taskerr.Classify(err).Class != taskerr.QuotaExceeded {
					r.Errorf("the error is %v", err)
				}
			})
		}
		wait() // the shared request is in flight
		r.server.Break(llmtest.NoQuota)
		all.Wait()
		if n := r.slow.count(); n != 2 {
			r.Errorf("%d calls, want no repetition", n)
		}
	})
}

// The cancel of a task ends its own wait at once, before and after the request was sent; the request ends with the last.
func TestCancelLeavesTheOthers(t *testing.T) {
	inRig(t, func(r *rig) {
		gone := errors.New("canceled")
		for _, after := range []time.Duration{shared.Window / 2, shared.Window + answerTime/2} {
			wait := r.busy()
			ctx, cancel := context.WithCancelCause(r.Context())
			var all sync.WaitGroup
			all.Go(func() {
				before := time.Now()
				if _, err := r.shared.Embed(ctx, inputsOf(1, 5)); !errors.Is(err, gone) || time.Since(before) != after {
					r.Errorf("the canceled one: %v after %v", err, time.Since(before))
				}
			})
			synctest.Wait() // it opens the request
			all.Go(func() {
				got, err := r.shared.Embed(r.Context(), inputsOf(2, 5))
				r.want(inputsOf(2, 5), got, err)
			})
			time.Sleep(after)
			cancel(gone)
			all.Wait()
			wait()
		}
		if len(r.slow.ends) > 0 {
			r.Errorf("requests ended: %v", r.slow.ends)
		}
		wait := r.busy()
		calls := r.slow.count()
		for _, after := range []time.Duration{shared.Window / 2, shared.Window + answerTime/4} {
			ctx, cancel := context.WithTimeout(r.Context(), after)
			if _, err := r.shared.Embed(ctx, inputsOf(1, 5)); !errors.Is(err, context.DeadlineExceeded) {
				r.Errorf("got %v", err)
			}
			cancel()
			synctest.Wait()
		}
		wait()
		if n := r.slow.count() - calls; n != 1 || len(r.slow.ends) != 1 {
			r.Errorf("%d requests of canceled tasks were sent, %d ended", n, len(r.slow.ends))
		}
	})
}

// A panic is that of the tasks, whose own recovery handles it.
func TestPanicIsTheTasks(t *testing.T) {
	inRig(t, func(r *rig) {
		wait := r.busy()
		r.slow.onCall = func([]string) { panic("a bug") }
		defer wait()
		defer func() {
			if p := recover(); p != "a bug" {
				r.Errorf("recovered %v", p)
			}
		}()
		_, err := r.shared.Embed(r.Context(), []string{"a"})
		r.Errorf("no panic: %v", err)
	})
}
