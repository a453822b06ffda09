package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// runSlot runs the workers of a slot, one after another. The last one works until finish is closed.
func (w *world) runSlot(name string, s workerSlot, finish <-chan struct{}) {
	for i, st := range s.lives {
		time.Sleep(min(st.after, w.left()))
		w.work(fmt.Sprintf("%s.%d", name, i+1), st, nil)
	}
	time.Sleep(w.left() + s.last.after)
	w.work(name+".last", s.last, finish)
}

// left is the time until the faults end.
func (w *world) left() time.Duration { return max(0, w.plan.active-time.Since(w.began)) }

// work runs one worker until its time has passed, or finish is closed.
func (w *world) work(name string, st workerLife, finish <-chan struct{}) {
	l := w.line(name)
	st.cfg.Worker, l.slots, l.lease = name, st.cfg.Concurrency, st.cfg.Lease
	probes := engine.Probes{taskerr.Model: l.probe}
	if st.blind {
		probes = nil
	}
	e := must(engine.New(st.cfg, engine.Deps{
		Probes: probes, Queues: l.queues(), Store: wiredStore{l}, Bucket: wiredBucket{l: l}, Handlers: l.handlers(),
		Log: slog.New(slog.DiscardHandler),
	}))
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan struct{})
	w.note(name, "", fmt.Sprintf("starts: %+v", st.cfg), none, nil)
	go func() {
		defer close(ended)
		_ = e.Run(ctx) // always nil
	}()
	var pauses sync.WaitGroup
	defer pauses.Wait()
	for _, p := range st.pauses {
		pauses.Go(func() {
			if l.hang(ctx, p.after) == nil {
				l.pause(p.lasts)
			}
		})
	}
	if finish != nil {
		<-finish
	} else {
		time.Sleep(min(st.lasts, w.left()))
		w.note(name, "", "ends: "+st.ends, none, nil)
		switch st.ends {
		case "crash":
			l.crash()
			e.Abort()
		case "abort":
			e.Abort()
		}
		w.tally.add(&w.tally.faults, st.ends)
	}
	stop()
	select {
	case <-ended:
	case <-time.After(endingTime):
		w.violated("", "worker %s has not ended after %v", name, endingTime)
	}
	l.crash() // abandoned handlers end with the process
}

// act is done from outside, by a process of its own.
func (w *world) act(name string, a act) {
	l := w.line(name)
	l.left = a.dies
	ctx, done := context.WithTimeout(context.Background(), time.Hour)
	defer done()
	var err error
	switch a.what {
	case "send":
		var q queue.Queue = wiredQueue{l.w.queues.For(a.queue), l}
		_, err = q.Send(ctx, w.claim(name, a.text), queue.SendOptions{})
	case "cancel":
		w.mu.Lock()
		w.book.asked[a.id] = true
		w.mu.Unlock()
		_, err = wiredStore{l}.RequestCancel(ctx, a.id, name)
	case "submit":
		for range 1 + a.retries {
			s := engine.Submitter{
				Store: wiredStore{l}, Queues: l.queues(),
				MaxAttempts: func(task.Type) int { return 3 },
			}
			if _, err = s.Submit(ctx, a.task); err == nil || l.dead() {
				break
			}
			time.Sleep(time.Minute)
		}
	}
	w.note(name, a.id, a.what, none, err)
}

// claim puts a text into a blob if it is too large for a message, or marked so.
func (w *world) claim(name, text string) string {
	text, large := strings.CutPrefix(text, claimed)
	if !large {
		return text
	}
	id, text, _ := strings.Cut(text, " ")
	blob := "tasks/" + name + ".json"
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blobs[blob] = text
	return fmt.Sprintf(`{"task_id":%q,"task_type":"plain","claim_check":{"blob":%q}}`, id, blob)
}
