package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Submit records a pending job.
func (s *Jobs) Submit(_ context.Context, m store.Submission) (store.SubmitAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.rows[m.JobID]; ok {
		if r.Placed {
			r.tellCanceled(m.Task)
		} else if r.Fingerprint != m.Fingerprint { // I5
			return store.SubmitAnswer{}, store.ErrConflict
		}
		if m.SendAt != nil && forced(m.Hints) && !r.Placed {
			if !r.hasRoom(m) {
				return store.SubmitAnswer{}, store.ErrRunWaits
			}
			if r.wasBegun() {
				r.Submitted, r.Sent, r.Updated = &m, time.Time{}, time.Now()
			}
			return store.SubmitAnswer{State: string(r.State)}, nil
		}
		return store.SubmitAnswer{
			State: string(r.State), Sent: r.wasBegun() || r.Submitted == nil || !r.Sent.IsZero() ||
				m.SendAt == nil && r.later(time.Now()),
		}, nil
	}
	s.add(store.Begin{Task: m.Task}).Submitted = &m
	return store.SubmitAnswer{Created: true, State: string(job.Pending)}, nil
}

// wasBegun reports whether the message that recorded the job, or its last series, has arrived.
func (r *Row) wasBegun() bool { return r.State != job.Pending || !r.SeriesStarted.IsZero() }

// hasRoom reports whether the row has no other run that waits, see aw_expect_room.
func (r *Row) hasRoom(m store.Submission) bool {
	same := r.Submitted != nil && r.Submitted.SendAt != nil && r.Submitted.SendAt.Equal(*m.SendAt)
	return (!r.unsent() || same && r.Submitted.Message == m.Message) && (r.wasBegun() || same)
}

// forced reports whether hints ask for another run of a job, see aw_forced.
func forced(hints json.RawMessage) bool {
	var h struct {
		Force any `json:"force"`
	}
	if json.Unmarshal(hints, &h) != nil {
		return false
	}
	force, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(fmt.Sprint(h.Force))))
	return err == nil && force
}

// MarkSent marks the message as sent, unless another one is recorded, or it is to be sent later.
func (s *Jobs) MarkSent(_ context.Context, id, message string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rows[id]
	if !ok {
		return store.ErrNotFound
	}
	if r.Submitted == nil || r.Submitted.Message == message && !r.later(time.Now()) {
		r.wasSent()
		r.Updated = time.Now()
	}
	return nil
}

// RequestCancel cancels a job that no worker holds, asks a running one to stop, and adds a canceled one for an unknown
// id.
func (s *Jobs) RequestCancel(_ context.Context, id, by string) (store.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rows[id]
	if !ok {
		r = s.add(store.Begin{Task: store.Task{JobID: id}})
		r.Placed, r.Cancel = true, true
		r.move(job.Cancel)
		r.Ended = time.Now()
		r.tell(own("canceled", "canceled by "+by+" before its message came"))
		return r.job(), nil
	}
	if r.State.Terminal() {
		if now := time.Now(); !r.later(now) && !r.waitsForQueue(now) {
			return store.Job{}, store.ErrTerminal
		}
		r.tell(own("", "its next run was canceled by "+by))
		r.wasSent()
		return r.job(), nil
	}
	if !r.Cancel {
		r.Cancel = true
		r.tell(own("", "cancel requested by "+by))
	}
	if r.State == job.Pending || !time.Now().Before(r.LeaseEnds) {
		s.end(r, job.Cancel, ending{})
	}
	return r.job(), nil
}

// waitsForQueue reports whether the message in the row was not sent for so long that it is not just on its way.
func (r *Row) waitsForQueue(now time.Time) bool {
	since := r.Updated
	if r.unsent() && r.Submitted.SendAt != nil && r.Submitted.SendAt.After(since) {
		since = *r.Submitted.SendAt
	}
	return r.unsent() && now.Sub(since) > 2*time.Minute
}

// Canceling returns the attempts whose jobs have a cancel request.
func (s *Jobs) Canceling(_ context.Context, attempts []store.Holder) ([]store.Holder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var asked []store.Holder
	for _, a := range attempts {
		if r, ok := s.rows[a.JobID]; ok && r.Cancel && r.Fence == a.Fence {
			asked = append(asked, a)
		}
	}
	return asked, nil
}

// anotherMessage is how long after the letter of a message one of the same id is another message: of a queue that counts
// from 1 again.
const anotherMessage = 5 * time.Minute

// Reject records a message that is not a valid task, once (I6).
func (s *Jobs) Reject(_ context.Context, j store.Rejection) (store.Settlement, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := source{j.Source.Queue, j.Source.MessageID}
	if d, there := s.byMessage[key]; there && j.Source.InsertedAt.After(d.Created.Add(anotherMessage)) {
		key.id += j.Source.InsertedAt.UTC().Format("@20060102150405.000000")
	}
	if d, again := s.byMessage[key]; again && key.id != "" {
		state := string(job.Failed)
		if d.Reason == conflict {
			state = store.Rejected
		}
		return store.Settlement{State: state, DeadLetter: d.ref()}, nil
	}
	d := s.bury(j.JobID, j.Type, j.Reason, j.Error, 0, j.Source, j.Original)
	if key.id != "" {
		s.byMessage[key] = d
	}
	if j.Record && j.JobID != "" {
		s.refuse(j, d)
	}
	d.Worker = j.Worker
	settled := store.Settlement{State: string(job.Failed), DeadLetter: d.ref()}
	r, ok := s.rows[j.JobID]
	switch {
	case ok && r.Placed:
		settled.State = string(job.Canceled)
		settled.Deliveries = r.tellCanceled(store.Task{
			Type: j.Type, WebhookURL: j.WebhookURL, RequestedBy: j.RequestedBy,
		})
	case ok:
		if !r.failedBy(j) {
			settled.State = store.Rejected
		}
		settled.Deliveries = r.webhook(j.WebhookURL, settled.State)
	case j.WebhookURL != "":
		settled.Deliveries = 1
	}
	return settled, nil
}

// conflict is the Reason of a message whose id belongs to a job with another payload.
const conflict = "conflict"

// failedBy reports whether the job is failed because of this message. Otherwise its id belongs to another task.
func (r *Row) failedBy(j store.Rejection) bool {
	return j.Reason != conflict && r.State == job.Failed && r.SeriesStarted.IsZero() && r.Type == j.Type &&
		reflect.DeepEqual(r.Payload, j.Payload)
}

// isOwnMessage reports whether a rejected message is the one that the job was recorded with, see aw_is_own_message.
func (r *Row) isOwnMessage(j store.Rejection) bool {
	return r.State == job.Pending && r.Submitted != nil && r.Fence == 0 && r.Type == j.Type &&
		reflect.DeepEqual(r.Payload, j.Payload) && !r.later(time.Now()) &&
		(r.Series > 1 || r.WebhookURL == j.WebhookURL && r.RequestedBy == j.RequestedBy)
}

// refuse adds a failed row for a rejected message, or fails the row that was recorded before this message was sent. It
// does not change any other row of that id.
func (s *Jobs) refuse(j store.Rejection, d *DeadLetter) {
	r, ok := s.rows[j.JobID]
	switch {
	case !ok:
		r = s.add(store.Begin{
			Task: store.Task{
				JobID: j.JobID, Type: j.Type, Payload: j.Payload, RequestedBy: j.RequestedBy, WebhookURL: j.WebhookURL,
				MaxAttempts: 1,
			},
		})
	case !r.isOwnMessage(j):
		return
	}
	r.move(job.Permanent)
	r.tell(own("failed", j.Error.Message))
	r.Error, r.Ended, r.Dead, r.Worker = j.Error, time.Now(), d, j.Worker
	r.wasSent()
	d.Series = r.Series
}
