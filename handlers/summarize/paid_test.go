package summarize_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// An answer that is too long to be kept does not keep the store from taking the others.
func TestAnswerTooLongToKeep(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *summarize.Deps) { d.Window, d.Concurrency = 4000, 1 })
	b.Put("log.md", long(12))
	var asked atomic.Int32
	b.model.reply = func(q llm.Question) (llm.Answer, error) {
		if asked.Add(1) == 1 {
			return reply{strings.Repeat("a ", 150_000), []keyPoint{{"It rises.", []int{1}}}}.answer(), nil
		}
		return parrot(q)
	}
	r := b.summarize(`{"filename":"log.md"}`)
	kept, calls := handlertest.Query[int](b.Bench, `select count(*) from partials`), b.model.calls()
	if calls < 3 || kept != calls-1 {
		t.Errorf("%d of %d answers are kept, want all but one; %d parts", kept, calls, r.Parts)
	}
}

// The summary is made of an answer that could be better, which is paid for, if the model can't be asked again.
func TestNoCorrection(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("tides.md", "The tide rises twice a day.")
	var asked atomic.Int32
	b.model.reply = func(llm.Question) (llm.Answer, error) {
		if asked.Add(1) > 1 {
			return llm.Answer{}, taskerr.Errorf(taskerr.DependencyUnavailable, "HTTP 500")
		}
		return reply{
			"The tide rises twice a day in this harbour, and the pilots wait for it.", []keyPoint{{"It rises.", []int{1}}},
		}.answer(), nil
	}
	r := b.summarize(`{"filename":"tides.md","language":"fr"}`)
	if r.Language != "en" || len(r.Warnings) != 1 || b.model.calls() != 2 {
		t.Errorf("%+v", r)
	}
}

// What a task paid for unusable answers counts in its next attempt, and against MAX_TASK_TOKENS, but not for another
// task.
func TestLostTokens(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Put("tides.md", "The tide rises.")
	const payload = `{"filename":"tides.md"}`
	good := reply{"It rises.", []keyPoint{{"It rises.", []int{1}}}}.answer()
	b.model.reply = say(llm.Answer{})
	call := b.Begin(payload, task.Hints{})
	for range 2 {
		if _, err := summarize.New(b.deps).Handle(b.Context(), call); err == nil {
			t.Fatal("there is a summary of unusable answers")
		}
	}
	b.model.calls()
	cost := 0 // of an attempt
	for _, line := range call.Progress.(*handlertest.Progress).Log {
		_, _ = fmt.Sscanf(line, "1 calls of the model, at most %d tokens", &cost)
	}
	b.deps.MaxTokens = cost + 439 // 440 are paid for
	if _, err := summarize.New(b.deps).Handle(b.Context(), call); err == nil || b.model.calls() != 0 ||
		!strings.Contains(err.Error(), "MAX_TASK_TOKENS") {
		t.Errorf("beyond MAX_TASK_TOKENS, an attempt costs %d: %v", cost, err)
	}
	b.deps.MaxTokens = 0
	b.model.reply = say(good)
	if r := b.finish(call); r.PromptTokens != 500 || r.CompletionTokens != 50 || r.PartsReused != 0 {
		t.Errorf("the third attempt: %+v", r)
	}
	if r := b.summarize(payload); r.PromptTokens != 0 || r.PartsReused != 1 {
		t.Errorf("another task: %+v", r)
	}
}

// A refusal is paid for once by a task, also in its next attempt. Another task asks again: the content filter may allow
// more by then.
func TestRefusalIsTheTasksOwn(t *testing.T) {
	t.Parallel()
	for _, end := range []llm.End{llm.Filtered, llm.Refused} {
		b := newBench(t, func(d *summarize.Deps) { d.Window = 4000 }) // too short for the whole document
		b.Put("log.md", long(12))
		b.model.reply = func(llm.Question) (llm.Answer, error) { return llm.Answer{End: end}, nil }
		call := b.Begin(`{"filename":"log.md"}`, task.Hints{})
		for attempt := range 2 {
			_, err := summarize.New(b.deps).Handle(b.Context(), call)
			if n := b.model.calls(); (n > 0) != (attempt == 0) || taskerr.Classify(err).Class != taskerr.ValidationError {
				t.Errorf("%s, attempt %d: %d calls, %v", end, attempt+1, n, err)
			}
		}
		b.model.reply = parrot
		if r := b.summarize(`{"filename":"log.md"}`); len(r.LeftOut) != 0 || len(r.KeyPoints) == 0 {
			t.Errorf("%s, allowed: %+v", end, r)
		}
	}
}
