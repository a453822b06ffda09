package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Begin records the job if it is new and says what to do with its message.
func (s *Jobs) Begin(_ context.Context, b store.Begin) (store.BeginAnswer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	r, ok := s.rows[b.JobID]
	if !ok {
		r = s.add(b)
		return r.run(b, now), nil
	}
	if r.Placed {
		r.tellCanceled(b.Task)
		return r.begun(store.Dropped), nil
	}
	if r.Fingerprint == "" && r.Type == b.Type && reflect.DeepEqual(r.Payload, b.Payload) { // recorded by aw_enqueue
		r.Fingerprint = b.Fingerprint
	}
	if r.Fingerprint != b.Fingerprint { // I5
		return r.begun(store.Conflict), nil
	}
	orphan := r.orphaned(b.Unanswered)
	switch {
	case r.State.Terminal() && r.again(b):
		r.reopen(b)
		return r.run(b, now, own("restarted", "restarted on request")), nil
	case r.State.Terminal():
		out := r.begun(store.Done)
		if r.State == job.Canceled {
			out.Decision = store.Dropped
		}
		out.DeadLetter = s.letterOf(r).ref()
		if r.sentAgain(b) {
			out.Duplicate, out.Deliveries = true, r.tellDuplicate(b)
		}
		return out, nil
	case !r.wasBegun() && r.later(now) && !b.Force && (!b.RunAt.IsZero() || !forced(r.Hints)):
		// It starts by the message that is recorded, unless that asks for another run than this one.
		return r.begun(store.Done), nil
	case r.State == job.Pending && !r.Cancel:
		return r.run(b, now), nil
	case now.Before(r.LeaseEnds) && !orphan:
		out := r.begun(store.Leased)
		out.Wait, out.Worker, out.Ran = r.LeaseEnds.Sub(now), r.Worker, r.Consumed[keyOf(b.Source)]
		return out, nil
	case r.LeaseEnds.After(now.Add(-b.Away)) && !orphan && !r.Cancel && b.Away > 0: // I9
		out := r.begun(store.Leased)
		out.Wait, out.Worker, out.Ran = 2*time.Second, r.Worker, r.Consumed[keyOf(b.Source)]
		return out, nil
	case r.Cancel:
		s.end(r, job.Cancel, ending{})
		return r.begun(store.Dropped), nil
	case orphan: // I9
		r.dropOrphan()
		return r.run(b, now, own("released", "the begin was not answered; the attempt is not counted")), nil
	case r.LeaseEnds.IsZero() && now.Before(r.NotBefore): // it waits for its next attempt
		out := r.begun(store.Waiting)
		out.Wait = r.NotBefore.Sub(now)
		return out, nil
	case r.LeaseEnds.IsZero():
		return r.run(b, now), nil
	}
	return s.beginLost(r, b, now), nil
}

// ReleaseUnanswered gives back jobs whose begin was not answered, without counting the attempt (I9).
func (s *Jobs) ReleaseUnanswered(_ context.Context, begins []store.UnansweredBegins) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	released := 0
	for _, b := range begins {
		r, ok := s.rows[b.JobID]
		if !ok || !r.orphaned(b.IDs) {
			continue
		}
		r.dropOrphan()
		r.tell(own("released", "the begin was not answered; the attempt is not counted"))
		r.LeaseEnds, r.NotBefore = time.Time{}, time.Now()
		released++
	}
	return released, nil
}

// keyOf is the identity of a message, see aw_message_key.
func keyOf(s store.Source) string {
	if strings.HasPrefix(s.MessageID, "outbox:") {
		return fmt.Sprint(s.MessageID, "@", s.Queue, "@")
	}
	return fmt.Sprint(s.MessageID, "@", s.Queue, "@", s.InsertedAt.Unix())
}

// orphaned reports whether one of the begins, whose answers were lost, has leased the job.
func (r *Row) orphaned(unanswered []string) bool {
	return r.State == job.Running && !r.LeaseEnds.IsZero() && slices.Contains(unanswered, r.ID)
}

// dropOrphan takes back the attempt of a begin that was not answered.
func (r *Row) dropOrphan() {
	r.move(job.Released)
	r.Attempts--
	if r.Fence == 1 {
		r.SeriesStarted = time.Time{} // no caller got the answer to the first start
	}
}

// run starts an attempt: one more attempt, a new fence (I4).
func (r *Row) run(b store.Begin, now time.Time, told ...store.Event) store.BeginAnswer {
	if r.State == job.Pending {
		r.move(job.Start)
	}
	r.Attempts++
	r.Fence++
	r.tell(told...)
	r.tell(own("started", fmt.Sprintf("attempt %d of %d started", r.Attempts, r.MaxAttempts)))
	r.ID = b.ID
	r.Worker, r.LeaseEnds, r.NotBefore, r.AttemptStarted = b.Worker, now.Add(b.Lease), time.Time{}, now
	// Unless it asks for another run, one that starts later or was recorded since this message began the series.
	if !r.later(now) && (r.SeriesStarted.IsZero() || !r.Consumed[keyOf(b.Source)]) {
		r.wasSent() // it came: no sweep needs to send it again
	}
	if r.Started.IsZero() {
		r.Started = now
	}
	first := r.SeriesStarted.IsZero()
	if first {
		r.SeriesStarted = now
	}
	if b.Source.MessageID != "" {
		r.Consumed[keyOf(b.Source)] = true
	}
	out := r.begun(store.Run)
	out.First = first
	return out
}

// again reports whether a forced message starts another series, see aw_forces_new_series.
func (r *Row) again(b store.Begin) bool {
	switch {
	case !b.Force || b.Source.MessageID == "" || r.Consumed[keyOf(b.Source)]:
		return false
	case b.Source.InsertedAt.IsZero():
		return r.State != job.Canceled
	case r.State == job.Canceled:
		return b.Source.InsertedAt.After(r.Ended)
	}
	since := r.SeriesStarted
	if since.IsZero() {
		since = r.Ended
	}
	asked := b.Source.InsertedAt
	if due := b.RunAt.Add(-time.Minute); due.After(asked) {
		asked = due
	}
	return !asked.Before(since.Truncate(time.Second))
}

// reopen starts a new series of attempts for a forced message.
func (r *Row) reopen(b store.Begin) {
	r.move(job.Forced)
	r.Series, r.SeriesStarted, r.Ended, r.LastWait = r.Series+1, time.Time{}, time.Time{}, 0
	r.Attempts, r.MaxAttempts, r.Progress, r.Dead, r.Cancel, r.Result = 0, b.MaxAttempts, 0, nil, false, nil
	r.Error, r.Hints, r.WebhookURL, r.TraceParent = store.ErrorInfo{}, b.Hints, b.WebhookURL, b.TraceParent
	r.Releases, r.WaitingFrom, r.Duplicates, r.Lost = 0, time.Time{}, 0, nil
}

// maxDuplicates is how many duplicates a series reports, see aw_report_duplicate.
const maxDuplicates = 20

// sentAgain reports whether a message was sent after its job failed and has to be reported, see aw_sent_after_failure.
func (r *Row) sentAgain(b store.Begin) bool {
	from := b.Source
	return r.State == job.Failed && from.MessageID != "" && !r.Consumed[keyOf(from)] &&
		(r.Dead == nil || r.Dead.Source.MessageID != from.MessageID || r.Dead.Source.Queue != from.Queue) &&
		from.InsertedAt.After(r.Ended) && r.Duplicates < maxDuplicates
}

// tellDuplicate reports, by an event and a webhook, a dropped message of a failed job, see aw_report_duplicate.
func (r *Row) tellDuplicate(b store.Begin) (webhooks int) {
	r.Consumed[keyOf(b.Source)] = true
	r.Duplicates++
	text := "sent again after it had failed; the message was dropped. To do the task again, send it with " +
		"hints.force or under a " +
		"new task_id, or run async-worker jobs retry " + r.JobID
	if r.Duplicates == maxDuplicates {
		text += ". Further duplicates are not reported"
	}
	e := own("", text)
	e.Metadata, _ = json.Marshal(map[string]string{"duplicate_message_id": b.Source.MessageID}) // a string can't fail
	r.tell(e)
	return r.webhook(b.WebhookURL, store.Rejected)
}

func (r *Row) begun(d store.Decision) store.BeginAnswer {
	b := store.BeginAnswer{
		Decision: d, Fence: r.Fence, Attempt: r.Attempts, MaxAttempts: r.MaxAttempts,
		Progress: r.Progress, State: string(r.State), Checkpoint: r.Checkpoint, Releases: r.Releases,
		LastWait: r.LastWait, Duration: r.duration(),
	}
	if !r.WaitingFrom.IsZero() {
		b.Waited = max(time.Since(r.WaitingFrom), time.Millisecond)
	}
	return b
}

// duration returns the time from the start of the series to the end of the job; zero: it has not ended, or not started.
func (r *Row) duration() time.Duration {
	if r.Ended.IsZero() || r.SeriesStarted.IsZero() {
		return 0
	}
	return r.Ended.Sub(r.SeriesStarted)
}

// tookMS returns the duration of the attempt in milliseconds, at most until its lease ended.
func (r *Row) tookMS(now time.Time) int64 {
	if r.LeaseEnds.Before(now) {
		now = r.LeaseEnds
	}
	return max(0, now.Sub(r.AttemptStarted).Milliseconds())
}

// tellCanceled writes the webhook of a job that was canceled before its message came, to the URL of the first message
// that has one. It returns the number of webhooks.
func (r *Row) tellCanceled(t store.Task) int {
	if t.WebhookURL == "" || r.WebhookURL != "" {
		return 0
	}
	r.Type, r.WebhookURL, r.RequestedBy, r.TraceParent = t.Type, t.WebhookURL, t.RequestedBy, t.TraceParent
	return r.webhook(r.WebhookURL, r.State.Wire())
}
