// Package memory keeps jobs in memory. It is the reference model of store.Jobs: it does in Go what the SQL functions do
// in SQL, and the conformance suite compares both. Tests of the engine run on it in virtual time. It has no documents,
// and does not deliver from its outbox.
package memory

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Jobs implements store.Jobs for one tenant. The zero value is not usable; see New.
type Jobs struct {
	mu          sync.Mutex
	rows        map[string]*Row
	order       []string // ids in order of creation
	deadLetters []*DeadLetter
	byMessage   map[source]*DeadLetter // of rejected messages
	feed        []store.FeedEvent      // all events, in order
	// OnEffect executes an effect of a completion; nil accepts and ignores effects.
	OnEffect func(h store.Holder, e store.Effect) error
}

// source identifies a rejected message (I6).
type source struct{ queue, id string }

// Row is a job.
type Row struct {
	of          *Jobs
	store.Begin // of the message that made the row, or of its submission
	State       job.State
	Stage       string
	Fence       int64
	Attempts    int
	Progress    int
	LeaseEnds   time.Time         // zero: no worker holds it
	NotBefore   time.Time         // when a waiting retry is due, or when the job was released
	Releases    int               // because a service was down, after the handler had run
	WaitingFrom time.Time         // the first release because a service was down; zero: there was none
	LastWait    time.Duration     // before the last retry
	Lost        []string          // workers that the series has lost, the last one last
	LostFence   int64             // under which a loss that it shares does not count
	Cancel      bool              // a cancel was requested
	Placed      bool              // made by a cancel request before any message came
	Sent        time.Time         // when the message was sent; zero: not yet
	Submitted   *store.Submission // nil: it came from a queue. Queue and Message are the last message's
	Series      int
	Consumed    map[string]bool // keys of messages that started an attempt, and of reported duplicates
	Duplicates  int             // reported since the present series failed
	Checkpoint  json.RawMessage
	Events      []store.JobEvent
	Effects     []store.Effect // committed
	Commits     int            // completions ever committed (I2)
	Result      json.RawMessage
	Error       store.ErrorInfo
	Dead        *DeadLetter // of the present series
	Outbox      []Webhook

	Created, Updated, Started, SeriesStarted, AttemptStarted, Ended time.Time
}

// DeadLetter is a dead letter.
type DeadLetter struct {
	store.DeadLetterRef
	JobID    string
	Type     string
	Series   int // of the job that the failure ended; 0: it ended none
	Error    store.ErrorInfo
	Worker   string
	Original string
	Source   store.Source
	Created  time.Time
}

// Webhook is a row of the outbox.
type Webhook struct{ ID, Event, URL string }

// New returns an empty store.
func New() *Jobs {
	return &Jobs{rows: map[string]*Row{}, byMessage: map[source]*DeadLetter{}}
}

// Row returns a copy of a job's row, and whether there is one.
func (s *Jobs) Row(id string) (Row, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rows[id]
	if !ok {
		return Row{}, false
	}
	return *r, true
}

// DeadLetters returns copies of all dead letters, oldest first.
func (s *Jobs) DeadLetters() []DeadLetter {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]DeadLetter, len(s.deadLetters))
	for i, d := range s.deadLetters {
		out[i] = *d
	}
	return out
}

// add makes a row.
func (s *Jobs) add(b store.Begin) *Row {
	now := time.Now()
	r := &Row{of: s, Begin: b, State: job.Pending, Series: 1, Consumed: map[string]bool{}, Created: now, Updated: now}
	s.rows[b.JobID] = r
	s.order = append(s.order, b.JobID)
	return r
}

// held returns the row of a running job under the current fence (I4).
func (s *Jobs) held(h store.Holder) (*Row, error) {
	r, ok := s.rows[h.JobID]
	if !ok || r.State != job.Running || r.LeaseEnds.IsZero() || r.Fence != h.Fence {
		return nil, store.ErrFenced
	}
	return r, nil
}

// move takes a legal transition; an illegal one is a bug of this model (I3).
func (r *Row) move(signal job.Signal) {
	next, ok := r.State.Next(signal)
	if !ok {
		panic("memory: no transition from " + string(r.State) + " by " + string(signal))
	}
	r.State, r.Updated = next, time.Now()
}

// tell appends events. It numbers them without gaps, never lets progress fall or time go back, and ignores an id that
// the job has (I8).
func (r *Row) tell(events ...store.Event) {
	for _, e := range events {
		if r.told(e.ID) {
			continue
		}
		r.Progress = max(r.Progress, min(max(e.Progress, 0), 100))
		if e.Stage != "" {
			r.Stage = e.Stage
		}
		r.Events = append(r.Events, store.JobEvent{
			ID: e.ID, Seq: int64(len(r.Events)) + 1, JobID: r.JobID, At: r.at(e.At), Stage: e.Stage,
			Progress: r.Progress,
			Attempt:  r.Attempts, Message: e.Message, Metadata: e.Metadata,
		})
		r.of.feed = append(r.of.feed, store.FeedEvent{
			JobEvent: r.Events[len(r.Events)-1], Tx: uint64(len(r.of.feed)) + 1,
		})
		r.Updated = time.Now()
	}
}

// at returns the time of an event: t, but not before the last event and not in the future.
func (r *Row) at(t time.Time) time.Time {
	if now := time.Now(); t.After(now) {
		t = now
	}
	if n := len(r.Events); n > 0 && t.Before(r.Events[n-1].At) {
		return r.Events[n-1].At
	}
	return t
}

func (r *Row) told(id string) bool {
	for _, e := range r.Events {
		if e.ID == id {
			return true
		}
	}
	return false
}

// own returns an event that the store itself adds.
func own(stage, message string) store.Event {
	return store.Event{ID: uuid.NewString(), At: time.Now(), Stage: stage, Message: message}
}

func (s *Jobs) bury(
	jobID, taskType, reason string, e store.ErrorInfo, attempts int, from store.Source, original string,
) *DeadLetter {
	d := &DeadLetter{
		JobID: jobID, Type: taskType, Error: e, Original: original, Source: from, Created: time.Now(),
		DeadLetterRef: store.DeadLetterRef{
			ID: strconv.Itoa(len(s.deadLetters) + 1), Reason: reason, Class: e.Class, Message: e.Message,
			Attempts: attempts,
		},
	}
	s.deadLetters = append(s.deadLetters, d)
	return d
}

// letterOf returns the dead letter whose copy may still have to be sent: one of any series whose copy is not marked as
// sent, or that of the present series. Nil: there is none.
func (s *Jobs) letterOf(r *Row) *DeadLetter {
	for _, d := range s.deadLetters {
		if d.JobID == r.JobID && d.Series > 0 && !d.Sent {
			return d
		}
	}
	return r.Dead
}

// ref returns a copy for an answer, nil for nil.
func (d *DeadLetter) ref() *store.DeadLetterRef {
	if d == nil {
		return nil
	}
	ref := d.DeadLetterRef
	return &ref
}

// DeadLetterSent marks the copy of a dead letter as sent.
func (s *Jobs) DeadLetterSent(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.deadLetters {
		if d.ID == id {
			d.Sent = true
			return nil
		}
	}
	return store.ErrNotFound
}
