package job_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestTransitions(t *testing.T) {
	t.Parallel()
	states := []job.State{job.Pending, job.Running, job.Succeeded, job.Failed, job.Canceled}
	signals := []job.Signal{
		job.Start, job.Success, job.Retryable, job.Exhausted, job.Permanent, job.Cancel, job.LeaseLost, job.LeaseSpent,
		job.Released,
		job.Forced, job.Requeued,
	}
	seen := map[string]bool{}
	for _, m := range job.Transitions {
		key := string(m.From) + " " + string(m.Signal)
		if seen[key] {
			t.Errorf("%s leads to two states", key)
		}
		seen[key] = true
		if m.From.Terminal() != m.NewSeries() {
			t.Errorf("%s: only a new series leaves a terminal state (I3), and no other state", key)
		}
		if !slices.Contains(states, m.From) || !slices.Contains(states, m.To) || !slices.Contains(signals, m.Signal) {
			t.Errorf("%s to %s is not of this machine", key, m.To)
		}
	}
	for _, s := range states {
		for _, signal := range signals {
			next, ok := s.Next(signal)
			if ok != seen[string(s)+" "+string(signal)] {
				t.Errorf("%s, %s: got %s, %t", s, signal, next, ok)
			}
			if !ok && next != s {
				t.Errorf("%s, %s: an illegal signal moved it to %s", s, signal, next)
			}
		}
	}
	for state, wire := range map[job.State]string{
		job.Succeeded: "completed", job.Failed: "failed", job.Canceled: "canceled", job.Running: "running",
		job.Pending: "pending",
	} {
		if state.Wire() != wire {
			t.Errorf("%s reads %s on the wire", state, state.Wire())
		}
	}
}

func TestClasses(t *testing.T) {
	t.Parallel()
	classes := []taskerr.Class{
		taskerr.ValidationError, taskerr.UnsupportedFormat, taskerr.ContentMissing, taskerr.CorruptionDetected,
		taskerr.QuotaExceeded, taskerr.InternalBug,
		taskerr.Timeout, taskerr.TransientStorage, taskerr.NetworkTimeout, taskerr.AIRateLimit, taskerr.ModelOverloaded,
		taskerr.DependencyUnavailable, taskerr.WorkerLost,
		taskerr.WaitExceeded,
	}
	if len(classes) != len(taskerr.Classes) {
		t.Errorf("%d classes, %d in the table", len(classes), len(taskerr.Classes))
	}
	camel, upper := regexp.MustCompile(`^([A-Z][a-z]+)+$`), regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)
	for _, c := range classes {
		i, ok := taskerr.Classes[c]
		if !ok || !camel.MatchString(i.TypeName) || !upper.MatchString(i.Code) {
			t.Errorf("%s: %+v", c, i)
		}
		if i.Retryable != (i.Coarse == "transient") ||
			!slices.Contains([]string{"validation", "permanent", "timeout", "transient"}, i.Coarse) {
			t.Errorf("%s: retried %t, but %s", c, i.Retryable, i.Coarse)
		}
	}
}

func TestStages(t *testing.T) {
	t.Parallel()
	for typ, stages := range job.Stages {
		last := -1
		for i, s := range stages {
			if s.Start <= last || s.Start > 99 || (i == 0 && s.Start != 0) {
				t.Errorf("%s: %s starts at %d after %d", typ, s.Name, s.Start, last)
			}
			last = s.Start
		}
	}
}

// Progress in a stage begins at its start, never falls, and leaves the next stage's start to it.
func TestProgressIn(t *testing.T) {
	t.Parallel()
	stages := job.Stages[task.Ingest]
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.IntRange(0, len(stages)-1).Draw(t, "stage")
		a := rapid.Float64().Draw(t, "a")
		b := rapid.Float64Min(a).Draw(t, "b")
		x, y := job.ProgressIn(stages, stages[i].Name, a), job.ProgressIn(stages, stages[i].Name, b)
		end := 100
		if i+1 < len(stages) {
			end = stages[i+1].Start
		}
		if x > y || x < stages[i].Start || y >= end {
			t.Fatalf("%s: %g is %d, %g is %d; the stage is from %d to %d", stages[i].Name, a, x, b, y, stages[i].Start,
				end)
		}
	})
	if got := job.ProgressIn(stages, "nowhere", 0.5); got != 0 {
		t.Errorf("an unknown stage: got %d", got)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := job.Policy{
			MaxAttempts: 3,
			Base:        time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(t, "base")),
			Jitter:      rapid.SampledFrom([]job.Jitter{job.FullJitter, job.DecorrelatedJitter}).Draw(t, "jitter"),
		}
		p.Cap = p.Base * time.Duration(rapid.IntRange(1, 100).Draw(t, "cap"))
		attempt := rapid.IntRange(1, 1000).Draw(t, "attempt")
		previous := time.Duration(rapid.Int64Range(0, int64(p.Cap)).Draw(t, "previous"))
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		got := p.Wait(attempt, previous, 0, rnd)
		low, high := time.Duration(0), p.Cap
		if p.Jitter == job.DecorrelatedJitter {
			low, high = p.Base, min(p.Cap, 3*max(previous, p.Base))
		} else if attempt < 8 { // later ones are above each cap, and overflow
			high = min(p.Cap, p.Base<<(attempt-1))
		}
		if got < low || got > high {
			t.Fatalf("%+v, attempt %d after %s: got %s, want %s to %s", p, attempt, previous, got, low, high)
		}
		asked := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "retry after"))
		if got := p.Wait(attempt, previous, asked, rnd); got < min(asked, job.MaxRetryAfter) ||
			got > max(high, job.MaxRetryAfter) {
			t.Fatalf("Retry-After %s: got %s", asked, got)
		}
	})
}

// The waits are spread over their whole range: the mean of many is near its middle.
func TestWaitSpread(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for p, want := range map[job.Policy]time.Duration{
		job.Policies[task.Ingest]: 2 * time.Second, // attempt 2: 0 to 4 s
		job.Policies[task.Agent]:  2 * time.Second, // after none: 1 to 3 s
	} {
		var sum time.Duration
		const n = 10_000
		for range n {
			sum += p.Wait(2, 0, 0, rnd)
		}
		if mean := sum / n; mean < want*9/10 || mean > want*11/10 {
			t.Errorf("%s jitter: the mean is %s, want about %s", p.Jitter, mean, want)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	typed := taskerr.Errorf(taskerr.TransientStorage, "read the blob: %w", io.ErrUnexpectedEOF)
	if !errors.Is(typed, io.ErrUnexpectedEOF) || typed.Message != "read the blob: unexpected EOF" {
		t.Errorf("got %+v", typed)
	}
	if got := taskerr.Classify(fmt.Errorf("outer: %w", typed)); got != typed {
		t.Errorf("a wrapped one: got %+v", got)
	}
	if got := taskerr.Classify(fmt.Errorf("x: %w", context.DeadlineExceeded)); got.Class != taskerr.NetworkTimeout {
		t.Errorf("a deadline: got %+v", got)
	}
	// A machine that has run out of something is not a bug of the task.
	for _, errno := range []syscall.Errno{
		syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE,
		syscall.ENOMEM, syscall.EAGAIN, syscall.EIO, syscall.EROFS,
	} {
		err := fmt.Errorf("run pdftotext: %w", &os.PathError{Op: "mkdir", Path: "/tmp/x", Err: errno})
		if got := taskerr.Classify(err); got.Class != taskerr.TransientStorage || !errors.Is(got, errno) {
			t.Errorf("%s: got %+v", errno, got)
		}
	}
	secret := errors.New("password=hunter2")
	if got := taskerr.Classify(secret); got.Class != taskerr.InternalBug || !errors.Is(got, secret) ||
		got.Message == secret.Error() {
		t.Errorf("an unknown one: got %+v; its message is for people, and must not repeat it", got)
	}
	for want, code := range map[string]string{
		"INGEST_IO_ERROR": typed.CodeFor(task.Ingest), "IO_ERROR": typed.CodeFor(""),
		"GW_4XX": (&taskerr.Error{Class: taskerr.ValidationError, Code: "GW_4XX"}).CodeFor(task.AI),
	} {
		if code != want {
			t.Errorf("got %s, want %s", code, want)
		}
	}
}
