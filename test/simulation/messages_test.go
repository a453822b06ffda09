package simulation

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// sent is a message that was sent to a queue of tasks.
type sent struct {
	queue, id, text string
	at              time.Time
}

// meaning is a decoded message.
type meaning struct {
	task        task.Task
	fingerprint string
	hopeless    bool // not a valid task
}

// means decodes a text, once.
func (w *world) means(text string) meaning {
	if m, known := w.meanings[text]; known {
		return m
	}
	m := meaning{hopeless: true}
	d, err := task.Decode(text, task.Options{ClientID: client})
	if err == nil && d.ClaimCheck != "" {
		d, err = task.Decode(w.blobs[d.ClaimCheck], task.Options{ClientID: client, FromClaimCheck: true})
	}
	if err == nil && (d.Task.Type == plainType || d.Task.Type == needyType) {
		m = meaning{task: d.Task, fingerprint: task.Fingerprint(d.Task)}
	}
	w.meanings[text] = m
	return m
}

// send sends a message to a queue and records it.
func (w *world) send(ctx context.Context, q queue.Queue, text string, o queue.SendOptions) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := time.Now()
	id, err := q.Send(ctx, text, o)
	if err == nil && q.Name() != w.queues.DeadLetter.Name() {
		w.book.sent = append(w.book.sent, sent{q.Name(), id, text, at})
		if m := w.means(text); m.task.Hints.Force {
			w.book.forced[m.task.ID]++
		}
		w.note("", id, "is message "+text[:min(len(text), 150)], none, nil)
	}
	return id, err
}

// remove deletes a message if the lease is still valid, and checks whether that is allowed (I1).
func (w *world) remove(ctx context.Context, r *wiredLease) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.depth(r.queue)
	err := r.lease.Delete(ctx)
	if w.depth(r.queue) < before {
		w.book.removed[r.queue+"/"+r.msg.ID] = true
		if why := w.unsettled(sent{r.queue, r.msg.ID, r.msg.Text, r.msg.InsertedAt}); why != "" {
			w.violated(w.means(r.msg.Text).task.ID, "I1: message %s was deleted although %s", r.msg.ID, why)
		}
	}
	return err
}

// lose makes the queue lose a message whose job has begun and not finished: the worker can't prevent the loss of
// others, nor that of a message whose dead letter is still to be copied.
func (w *world) lose(ctx context.Context, r *wiredLease) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.means(r.msg.Text)
	if row, ok := w.store.Row(m.task.ID); !ok || row.Fence == 0 || row.State.Terminal() ||
		row.Fingerprint != m.fingerprint {
		return
	}
	if err := r.lease.Delete(ctx); err == nil {
		w.book.removed[r.queue+"/"+r.msg.ID] = true
		w.book.lost[m.task.ID] = true
		w.note("", r.msg.ID, "is lost by the queue", none, nil)
	}
}

func (w *world) depth(name string) int {
	return must(w.service.Queue(name).Depth(context.Background()))
}

// unsettled says why a message may not be deleted yet; empty if it may.
func (w *world) unsettled(s sent) string {
	if d, ok := w.letter(s); ok {
		if !d.Sent {
			return "its dead letter was not copied"
		}
		return ""
	}
	m := w.means(s.text)
	if m.hopeless {
		return "it is neither a task nor a dead letter"
	}
	r, ok := w.store.Row(m.task.ID)
	switch {
	case !ok:
		return "there is no job"
	case r.Placed:
		return ""
	case r.Fingerprint != m.fingerprint:
		return "the job has another payload, and it is not a dead letter"
	case !r.State.Terminal() && w.book.left[m.task.ID].Before(s.at):
		return "the job is " + string(r.State)
	case r.State == job.Failed && (r.Dead == nil || !r.Dead.Sent) && !w.book.lost[m.task.ID] && !w.another(s, m):
		return "the job's dead letter was not copied"
	}
	return ""
}

// another reports whether there is another message of the same job, which will copy its dead letter: each message
// that returns does.
func (w *world) another(than sent, m meaning) bool {
	for _, s := range w.book.sent {
		if (s.id != than.id || s.queue != than.queue) && !w.book.removed[s.queue+"/"+s.id] &&
			w.means(s.text).fingerprint == m.fingerprint {
			return true
		}
	}
	return false
}

// letter finds the dead letter of a rejected message.
func (w *world) letter(s sent) (memory.DeadLetter, bool) {
	if !w.book.rejected[s.queue+"/"+s.id] {
		return memory.DeadLetter{}, false
	}
	for _, d := range w.store.DeadLetters() {
		if d.Source.Queue == s.queue && d.Source.MessageID == s.id {
			return d, true
		}
	}
	return memory.DeadLetter{}, false
}
