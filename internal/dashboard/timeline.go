package dashboard

import (
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// timeline is the attempts of a job, with how long each stage took.
type timeline struct {
	Attempts []attempt
	Took     time.Duration
}

// attempt is one run of a job.
type attempt struct {
	Number int
	Begin  time.Time
	Took   time.Duration
	Spans  []span
	End    string // how it ended; empty: it has not
}

// span is the time of a stage within the timeline, in percent of the whole.
type span struct {
	Stage       string
	Took        time.Duration
	Left, Width float64
	Kind        string        // done, current or failed
	from        time.Duration // the begin, from that of the attempt
}

const leastWidth = 0.6 // percent: what is shorter can still be seen

// timelineOf makes bars of a job's events: a stage lasts until the next one's first event.
func timelineOf(j store.Job, events []store.JobEvent) timeline {
	var t timeline
	end := time.Now()
	if j.CompletedAt != nil {
		end = *j.CompletedAt
	}
	var current *attempt
	closeSpan := func(at time.Time) {
		if current == nil || len(current.Spans) == 0 {
			return
		}
		last := &current.Spans[len(current.Spans)-1]
		last.Took = max(at.Sub(current.Begin)-last.from, 0)
		current.Took = max(at.Sub(current.Begin), 0)
	}
	open := false
	for _, e := range events {
		if e.Stage == "" || e.Attempt == 0 {
			continue
		}
		again := e.Stage == "restarted" || e.Stage == "started" && current != nil && current.End != "" // a number repeats
		if current == nil || e.Attempt != current.Number || again {
			if open {
				closeSpan(e.At)
			}
			t.Attempts = append(t.Attempts, attempt{Number: e.Attempt, Begin: e.At})
			current, open = &t.Attempts[len(t.Attempts)-1], false
		}
		switch e.Stage {
		case "completed", "failed", "canceled", "retrying", "released", "worker_lost":
			closeSpan(e.At)
			open, current.End = false, words(e.Stage)
		case "restarted", "started":
		default:
			if open && current.Spans[len(current.Spans)-1].Stage == words(e.Stage) {
				continue
			}
			if open {
				closeSpan(e.At)
			}
			current.Spans = append(current.Spans, span{Stage: words(e.Stage), from: e.At.Sub(current.Begin), Kind: "done"})
			open = true
		}
	}
	if open {
		closeSpan(end)
		if j.Status == "running" {
			current.Spans[len(current.Spans)-1].Kind = "current"
		}
	}
	return t.scaled()
}

// scaled puts the spans into percent of the longest attempt, and marks what failed.
func (t timeline) scaled() timeline {
	for _, a := range t.Attempts {
		t.Took = max(t.Took, a.Took)
	}
	if t.Took == 0 {
		t.Took = time.Millisecond
	}
	for _, a := range t.Attempts {
		at := time.Duration(0)
		for i := range a.Spans {
			s := &a.Spans[i]
			s.Width = max(100*float64(s.Took)/float64(t.Took), leastWidth)
			s.Left = min(100*float64(at)/float64(t.Took), 100-s.Width)
			at += s.Took
			if i == len(a.Spans)-1 && (a.End == "failed" || a.End == "retrying" || a.End == "worker lost") {
				s.Kind = "failed"
			}
		}
	}
	return t
}
