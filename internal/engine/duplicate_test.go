package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// sentAgain is message("t1", "") as somebody sends it who wants to hear of it.
const sentAgain = `{"task_id":"t1","task_type":"test","payload":{"n":1},"webhook_url":"https://example.com/again"}`

// wantDuplicates is how often the job's events have to say that the task was sent again after it had failed.
func (w *world) wantDuplicates(r storememory.Row) int {
	if w.resent.IsZero() || r.State != job.Failed || !w.resent.After(r.Ended) {
		return 0
	}
	return 1
}

// expectDuplicates checks that a message which was sent after its job failed is reported once, and a redelivery never.
func (w *world) expectDuplicates(r storememory.Row) {
	w.Helper()
	reported, hooks := 0, 0
	for _, e := range r.Events {
		if strings.Contains(string(e.Metadata), "duplicate_message_id") {
			reported++
		}
	}
	for _, hook := range r.Outbox {
		if hook.Event == "task.rejected" {
			hooks++
		}
	}
	if want := w.wantDuplicates(r); reported != want || hooks != want {
		w.Errorf("%d events and %d webhooks report duplicates, want %d", reported, hooks, want)
	}
}

// A task that is sent again after it failed is dropped, and its sender hears of it.
func TestSentAgainAfterAFailure(t *testing.T) {
	inWorld(t, func(w *world) {
		var runs, woken atomic.Int32
		w.outbox = func() { woken.Add(1) }
		w.start(func(context.Context, handlers.Call) (handlers.Outcome, error) {
			runs.Add(1)
			return handlers.Outcome{}, taskerr.Errorf(taskerr.CorruptionDetected, "broken")
		})
		w.send(w.queues.Normal, message("t1", ""))
		w.settled(time.Minute)
		w.resent = time.Now()
		w.send(w.queues.Normal, sentAgain)
		w.settled(time.Minute)
		w.expectState("t1", job.Failed, 1)
		if runs.Load() != 1 || woken.Load() != 1 {
			t.Errorf("the handler ran %d times, and the outbox was woken %d times; want once each", runs.Load(),
				woken.Load())
		}
		w.expectInvariants()
		w.expectBuried("permanent")
		w.expectLog("level=WARN", "task_id=t1", "dropped", "TASK_ALREADY_FAILED", "hints.force",
			"async-worker jobs retry t1")
	})
}
