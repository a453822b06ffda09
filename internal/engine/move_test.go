package engine_test

import (
	"context"
	"encoding/base64"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/queue"
)

// A message that asks for another priority than that of its queue is done from the queue of it, once and in one
// attempt.
func TestMovedByPriority(t *testing.T) {
	const low = `{"task_id":"t1","task_type":"test","payload":{"n":1},"priority":"low"}`
	for name, text := range map[string]string{
		"field":  low,
		"base64": base64.StdEncoding.EncodeToString([]byte(low)),
		"hint":   `{"task_id":"t1","task_type":"test","payload":{"n":1},"priority":"high","hints":{"priority":"low"}}`,
		"event":  `{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"job_id":"t1","task_type":"test","payload":{},"hints":{"priority":"low"}}}`,
		"claim":  `{"claim_check":{"blob":"tasks/t1.json"}}`,
		"outer":  `{"claim_check":{"blob":"tasks/plain.json"},"priority":"low"}`,
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				bucket := dir.New(t.TempDir())
				for file, text := range map[string]string{"tasks/t1.json": low, "tasks/plain.json": message("t1", "")} {
					if _, err := bucket.Put(t.Context(), file, strings.NewReader(text),
						"application/json"); err != nil {
						t.Fatal(err)
					}
				}
				w.bucket = bucket
				all := []*brokenSends{{Queue: w.queues.High}, {Queue: w.queues.Normal}, {Queue: w.queues.Low}}
				w.send(w.queues.High, text)
				w.queues.High, w.queues.Normal, w.queues.Low = all[0], all[1], all[2]
				var runs atomic.Int32
				w.start(func(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
					runs.Add(1)
					return done(ctx, c)
				})
				w.settled(time.Minute)
				w.expectState("t1", job.Succeeded, 1)
				if r := w.row("t1"); r.Priority != "low" || runs.Load() != 1 ||
					r.Begin.Source.Queue != "acme-tasks-high" {
					t.Errorf("%d runs; the job's priority is %s, its message came from %s", runs.Load(), r.Priority,
						r.Begin.Source.Queue)
				}
				if all[0].tries.Load() != 0 || all[1].tries.Load() != 0 || all[2].tries.Load() != 1 {
					t.Errorf("sent %d, %d and %d times, want once to low", all[0].tries.Load(), all[1].tries.Load(),
						all[2].tries.Load())
				}
				for _, q := range all {
					w.expectDepth(q, 0)
				}
			})
		})
	}
}

// A message that asks for no priority has that of its queue; one that can't be moved is done where it is.
func TestNotMoved(t *testing.T) {
	inWorld(t, func(w *world) {
		broken := &brokenSends{Queue: w.queues.Low}
		broken.down.Store(true)
		w.queues.Low = broken
		w.start(done)
		w.send(w.queues.High, message("t1", ""))
		w.send(w.queues.Normal, `{"task_id":"t2","task_type":"test","payload":{},"priority":"low"}`)
		w.send(w.queues.Normal, `{"task_id":"t3","task_type":"test","payload":{},"priority":"normal"}`)
		w.settled(time.Minute)
		for id, priority := range map[string]string{"t1": "high", "t2": "low", "t3": "normal"} {
			w.expectState(id, job.Succeeded, 1)
			if r := w.row(id); r.Priority != priority {
				t.Errorf("%s has the priority %s, want %s", id, r.Priority, priority)
			}
		}
		if n := broken.tries.Load(); n != 1 {
			t.Errorf("tried to move %d times, want once", n)
		}
		w.expectLog("can't move a message", "t2")
		for _, q := range []queue.Queue{w.queues.High, w.queues.Normal} {
			w.expectDepth(q, 0)
		}
	})
}

// Whoever writes the mark of a moved message can name neither another tenant's queue nor a time to come.
func TestForgedOrigin(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(done)
		w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","payload":{},"movedfrom":"other-tasks/x/0"}`)
		w.send(w.queues.Normal, `{"task_id":"t2","task_type":"test","payload":{},"movedfrom":"acme-tasks-low/x/99999999999999"}`)
		w.send(w.queues.Normal, `{"task_id":"t3","task_type":"test","payload":{},"movedfrom":"acme-tasks/x/-99999999999999999"}`)
		w.settled(time.Minute)
		if s := w.row("t3").Begin.Source; s.MessageID == "x" || s.InsertedAt.Year() < 1970 {
			t.Errorf("t3 came from %+v", s)
		}
		if s := w.row("t1").Begin.Source; s.Queue != "acme-tasks" || s.MessageID == "x" {
			t.Errorf("t1 came from %+v", s)
		}
		if s := w.row("t2").Begin.Source; s.Queue != "acme-tasks-low" || s.InsertedAt.After(time.Now()) {
			t.Errorf("t2 came from %+v", s)
		}
	})
}
