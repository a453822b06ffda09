package summarize_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A long document is a tree, and only the changed parts are asked about again.
func TestTree(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *summarize.Deps) { d.Window = 4000 })
	b.Put("log.md", long(40))
	r := b.summarize(`{"filename":"log.md"}`)
	all := b.model.calls()
	if all < 10 || r.Parts != all || r.PromptTokens != 100*all || len(r.KeyPoints) == 0 || b.model.peak > 4 {
		t.Errorf("%d calls, %d at a time, %+v", all, b.model.peak, r)
	}
	if again := b.summarize(`{"filename":"log.md"}`); b.model.calls() != 0 || again.Summary != r.Summary ||
		again.PartsReused != all {
		t.Errorf("again: %+v", again)
	}
	if b.summarize(`{"filename":"log.md","style":"detailed"}`); b.model.calls() != 1 {
		t.Error("another style should cost one call")
	}
	b.Put("log.md", long(40, 17))
	edited := b.summarize(`{"filename":"log.md"}`)
	path := b.model.questions()
	if len(path) < 3 || len(path) > 5 || edited.PromptTokens != 100*len(path) {
		t.Errorf("an edit of one section cost %d calls: %+v", len(path), edited)
	}
	if !strings.Contains(path[0].Text, "a storm came up") || strings.Contains(path[1].Text, "Watch 7") &&
		strings.Contains(path[1].Text, "Day 3 ") {
		t.Errorf("the calls were\n%.300s\n%.300s", path[0].Text, path[1].Text)
	}
}

// Moved parts are not asked about again: a new first chapter costs itself and the notes above it.
func TestTreeAfterAMove(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *summarize.Deps) { d.Window = 4000 })
	b.Put("log.md", long(40))
	b.summarize(`{"filename":"log.md"}`)
	all := b.model.calls()
	b.Put("log.md", "# Preface\n\n"+strings.Repeat(
		"The preface tells who has kept the log, and thanks the crew of the pilot boat for its longAnswer. ", 40)+"\n\n"+
		long(40))
	b.summarize(`{"filename":"log.md"}`)
	if n := b.model.calls(); n > 6 || n*2 > all {
		t.Errorf("a new first chapter cost %d calls; the whole document took %d", n, all)
	}
}

// A forced task asks everything again, once: the next attempt of the series finds the answers of the one before.
func TestForce(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *summarize.Deps) { d.Window = 4000; d.Concurrency = 1 })
	b.Put("log.md", long(20))
	const payload = `{"filename":"log.md"}`
	b.finish(b.Begin(payload, task.Hints{}))
	all := b.model.calls()
	broken := 0
	b.model.reply = func(q llm.Question) (llm.Answer, error) {
		if broken++; broken > 3 {
			return llm.Answer{}, taskerr.Errorf(taskerr.ModelOverloaded, "down")
		}
		return parrot(q)
	}
	first := b.BeginAs("job-1", task.Summarize, payload, task.Hints{Force: true})
	if _, err := summarize.New(b.deps).Handle(t.Context(), first); err == nil || b.model.calls() != 4 {
		t.Errorf("the first attempt: %v", err)
	}
	b.model.reply = parrot
	r := b.finish(b.BeginAs("job-1", task.Summarize, payload, task.Hints{Force: true}))
	if n := b.model.calls(); n != all-3 || r.PromptTokens != 100*all || r.PartsReused != 0 {
		t.Errorf("the second attempt asked %d of %d: %+v", n, all, r)
	}
	if n := handlertest.Query[int](b.Bench, "select count(*) from summaries where job_id = 'job-1'"); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

// A model whose context is smaller than expected gets smaller questions.
func TestTooLong(t *testing.T) {
	t.Parallel()
	for _, told := range []int{0, 5000} {
		b := newBench(t)
		b.Put("log.md", long(60))
		counter := token.New()
		b.model.reply = func(q llm.Question) (llm.Answer, error) {
			if counter.Count(q.System+q.Text)+q.MaxTokens > 5000 {
				return llm.Answer{}, tooLong(told)
			}
			return parrot(q)
		}
		if r := b.summarize(`{"filename":"log.md"}`); len(r.KeyPoints) == 0 || r.Parts < 8 {
			t.Errorf("%+v", r)
		}
	}
	b := newBench(t)
	b.Put("log.md", long(60))
	b.model.reply = func(llm.Question) (llm.Answer, error) { return llm.Answer{}, tooLong(0) }
	if e := b.fails(`{"filename":"log.md"}`); e.Class != taskerr.ValidationError {
		t.Errorf("%+v", e)
	}
}

// When a call fails for good, those in progress are finished and their answers kept.
func TestFailureKeepsWhatIsPaid(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *summarize.Deps) { d.Window, d.Concurrency = 4000, 4 })
	b.Put("log.md", long(40))
	failed, came := make(chan struct{}), make(chan struct{})
	b.model.reply = func(q llm.Question) (llm.Answer, error) {
		if strings.Contains(q.Text, "Day 0 of") {
			for range 3 { // as many as may be in progress
				came <- struct{}{}
			}
			defer close(failed)
			return llm.Answer{}, taskerr.Errorf(taskerr.ModelOverloaded, "down")
		}
		select {
		case <-came:
			<-failed
		case <-failed: // it started before the failure was noted
		}
		return parrot(q)
	}
	if e := b.fails(`{"filename":"log.md"}`); e.Class != taskerr.ModelOverloaded {
		t.Errorf("%+v", e)
	}
	calls := b.model.calls()
	// Each of the three that end may let another one start in the moment before the failure is noted.
	if kept := handlertest.Query[int](b.Bench, "select count(*) from partials"); kept != calls-1 || calls < 4 || calls > 7 ||
		b.model.peak != 4 {
		t.Errorf("%d calls, %d at a time, %d answers kept", calls, b.model.peak, kept)
	}
}
