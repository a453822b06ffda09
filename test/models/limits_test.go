package models

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Hundreds of tasks of all types, with a service that answers 429 to every third request and only announces its
// limits: all of them succeed, and no period has more requests than the limit and a twentieth.
func TestManyTasksWithinTheLimits(t *testing.T) {
	t.Parallel()
	const tasks = 500
	limits := llmtest.Limits{Requests: 300, Period: 5 * time.Second, Every: 3}
	b := newBed(t, llmtest.Options{Reply: reply, Limits: limits})
	kinds := []task.Type{
		task.Ingest, task.Ingest, task.Summarize, task.Ingest, task.Agent, task.Ingest, task.Ingest, task.Summarize,
		task.Agent, task.AI,
	}
	for i := range tasks {
		name, id := fmt.Sprintf("file-%d.md", i), fmt.Sprintf("task-%d", i)
		switch kind := kinds[i%len(kinds)]; kind {
		case task.Agent, task.AI:
			b.send(id, kind, map[string]any{"prompt": fmt.Sprintf("What is unloaded at quay %d?", i)})
		case task.Ingest:
			b.upload(name, fmt.Sprintf("# Quay %d\n\nCoal is unloaded at quay %d, from ships of the line %d.\n", i, i,
				i))
			b.send(id, kind, map[string]any{"filename": name, "document_set": "harbour"})
		default:
			b.upload(name, fmt.Sprintf("# Quay %d\n\nCoal is unloaded at quay %d.\n", i, i))
			b.send(id, kind, map[string]any{"filename": name})
		}
	}
	start := time.Now()
	late := lateness(t)
	b.run(tasks)
	took, behind := time.Since(start), late()

	succeeded := 0
	for _, n := range b.ends.succeeded {
		succeeded += n
	}
	if succeeded != tasks {
		t.Errorf("%d of %d tasks succeeded; others ended %v", succeeded, tasks, b.ends.other)
	}
	if dead, err := b.store.DeadLetters(t.Context(), store.DeadLetterFilter{}); err != nil || len(dead) > 0 {
		t.Errorf("%d dead letters, %v", len(dead), err)
	}
	most := b.model.Most(limits.Period)
	t.Logf("%v ended in %v; attempts that did not: %v; %d requests, at most %d in %v (announced are %d), %d of them "+
		"with an empty bucket; the machine was late by %v",
		b.ends.succeeded, took.Round(time.Millisecond), b.ends.other, b.model.Requests(), most, limits.Period,
		limits.Requests, b.model.Refused(), behind)
	if allowed, sure := arriving(limits, behind); most > allowed && sure {
		t.Errorf("%d requests in %v, announced are %d", most, limits.Period, limits.Requests)
	} else if most > allowed {
		t.Skipf("no verdict: %d requests in %v, announced are %d, but the machine was late by %v", most, limits.Period,
			limits.Requests, behind)
	}
}

// arriving is how many requests may arrive in a period: what was sent in time may arrive late, together with what was sent
// later. A machine that was late by more than a quarter of the period allows no more, but then more may not be judged.
func arriving(limits llmtest.Limits, behind time.Duration) (allowed int, sure bool) {
	late := min(behind, limits.Period/4)
	return int(float64(limits.Requests) * (1.05 + 2*late.Seconds()/limits.Period.Seconds())), late == behind
}

// TestArriving: a busy machine doesn't allow any number of requests.
func TestArriving(t *testing.T) {
	t.Parallel()
	limits := llmtest.Limits{Requests: 300, Period: 4 * time.Second}
	for _, tt := range []struct {
		behind  time.Duration
		allowed int
		sure    bool
	}{{0, 315, true}, {time.Second, 465, true}, {time.Minute, 465, false}} {
		if allowed, sure := arriving(limits, tt.behind); allowed != tt.allowed || sure != tt.sure {
			t.Errorf("late by %v: %d, %v, want %d, %v", tt.behind, allowed, sure, tt.allowed, tt.sure)
		}
	}
}

// lateness watches for how long a busy machine lets this process wait at most, until its result is asked for.
func lateness(t *testing.T) (longest func() time.Duration) {
	t.Helper()
	const every = 5 * time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	result := make(chan time.Duration, 1)
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		var longest time.Duration
		for last := time.Now(); ctx.Err() == nil; {
			<-tick.C
			now := time.Now()
			longest, last = max(longest, now.Sub(last)-every), now
		}
		result <- longest
	}()
	return func() time.Duration { stop(); return <-result }
}
