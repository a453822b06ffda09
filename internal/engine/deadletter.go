package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/event"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Envelope is the message on the dead-letter queue. The row in dead_letters is the same dead letter,
// by ID; a second envelope with the same ID (after a crash between sending and noting it) is a copy.
type Envelope struct {
	ID             string    `json:"id"`
	TaskID         string    `json:"task_id,omitempty"`
	TaskType       string    `json:"task_type,omitempty"`
	ClientID       string    `json:"client_id"`
	Reason         string    `json:"reason"`
	ErrorClass     string    `json:"error_class"`
	ErrorMessage   string    `json:"error_message"`
	Attempts       int       `json:"attempts"`
	SourceQueue    string    `json:"source_queue"`
	MessageID      string    `json:"message_id"`
	FirstSeen      time.Time `json:"first_seen"`
	DeadLetteredAt time.Time `json:"dead_lettered_at"`
	Worker         string    `json:"worker"`
	Original       string    `json:"original_message"`
	// Truncated says that Original was cut to fit; the row in dead_letters has the whole text.
	Truncated bool `json:"truncated,omitempty"`
}

// maxEnvelopeError bounds the error's message in an envelope, in bytes: written as JSON escapes it fits
// into a message of 64 KiB many times. The row has the whole text.
const maxEnvelopeError = 4 << 10

// bury sends the queue copy of a dead letter, records that it was sent, and deletes the message. It stops at the first
// step that fails: the message comes back, begin answers done with the dead letter still unsent, and bury resumes there
// (I6). It reports whether the copy was sent. One failure is one warning: told is that the end of its attempt is one.
func (e *Engine) bury(
	ctx context.Context, d *delivery, taskType, taskID string, ref *store.DeadLetterRef, told bool,
) bool {
	ctx, done := settling(ctx)
	defer done()
	if ref != nil && !ref.Sent && !e.copyLetter(ctx, d, taskType, taskID, ref, told) {
		return false
	}
	d.acknowledge(ctx)
	return true
}

// buryAgain is bury for a job that had ended when its message came. More than one of its dead letters may be uncopied,
// and begin returns one at a time: the message is deleted when begin returns none.
func (e *Engine) buryAgain(ctx context.Context, a *attempt, ref *store.DeadLetterRef) {
	if ref == nil || ref.Sent {
		a.acknowledge(ctx)
		return
	}
	ctx, done := settling(ctx)
	defer done()
	if e.copyLetter(ctx, a.delivery, string(a.task.Type), a.task.ID, ref, false) {
		a.putBack(ctx, 0)
	}
}

// copyLetter sends the queue copy of a dead letter and records that it was sent. When that fails it puts the message
// back.
func (e *Engine) copyLetter(
	ctx context.Context, d *delivery, taskType, taskID string, ref *store.DeadLetterRef, told bool,
) bool {
	env := Envelope{
		ID: ref.ID, TaskID: taskID, TaskType: taskType, ClientID: e.cfg.ClientID,
		Reason: ref.Reason, ErrorClass: ref.Class, ErrorMessage: cut(ref.Message, maxEnvelopeError),
		Attempts:    ref.Attempts,
		SourceQueue: d.queue.Name(), MessageID: d.msg.ID, FirstSeen: d.msg.InsertedAt,
		DeadLetteredAt: time.Now().UTC(), Worker: e.cfg.Worker, Original: d.msg.Text,
	}
	if err := e.sendEnvelope(ctx, env); err != nil {
		d.log.Error("can't copy a dead letter to its queue; retrying when the message comes back", "dead_letter",
			ref.ID, "error", err, "hint", "check the queue's service; async-worker doctor tries it")
		d.putBack(ctx, e.copyWait(d))
		return false
	}
	if err := e.deps.Store.DeadLetterSent(ctx, ref.ID); err != nil {
		d.log.Warn("can't record that a dead letter was copied; it may be copied again", "dead_letter", ref.ID,
			"error", err)
		d.putBack(ctx, e.tuning().PollMax)
		return false
	}
	level := slog.LevelWarn
	if told {
		level = slog.LevelInfo
	}
	d.log.Log(ctx, level, "dead-lettered", event.Key, event.DeadLettered, "reason", ref.Reason, "error_class", ref.Class, "error",
		ref.Message, "dead_letter", ref.ID)
	return true
}

// copyWait is how long a message is hidden whose dead letter could not be copied: an eighth of the time since it was
// sent, at least a poll interval. A queue that is forbidden stays so until a person comes, and each return of each such
// message costs a slot, a query and a line in the log.
func (e *Engine) copyWait(d *delivery) time.Duration {
	const part = 8
	return max(e.tuning().PollMax, min(time.Since(d.msg.InsertedAt)/part, longPause))
}

func (e *Engine) sendEnvelope(ctx context.Context, env Envelope) error {
	for {
		text, err := json.Marshal(env)
		if err != nil {
			return fmt.Errorf("encode the envelope: %w", err)
		}
		err = queue.SendEnsured(ctx, e.deps.Queues.DeadLetter, string(text), queue.SendOptions{TTL: queue.Never})
		if !errors.Is(err, queue.ErrTooLarge) || env.Original == "" {
			return err
		}
		env.Original, env.Truncated = cut(env.Original, len(env.Original)/2), true
	}
}

// cut returns at most n bytes of s, not ending within a rune.
func cut(s string, n int) string {
	for n > 0 && n < len(s) && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:min(n, len(s))]
}
