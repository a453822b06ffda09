// Package memory keeps jobs in memory: the reference model of store.Jobs. Tests of the engine run on
// it in virtual time, and it says in Go what the SQL functions say in SQL. It holds no documents, and
// its outbox only counts.
package memory

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Jobs implements store.Jobs. The zero value is not usable; see New.
type Jobs struct {
	mu          sync.Mutex
	rows        map[string]*Row
	deadLetters []*DeadLetter
	byMessage   map[string]*DeadLetter // of rejected messages
	// OnEffect carries out the effects of a completion; nil accepts and ignores them.
	OnEffect func(h store.Holder, e store.Effect) error
}

// Row is a job as the model keeps it.
type Row struct {
	store.Begin
	State      job.State
	Fence      int64
	Attempts   int
	Progress   int
	LeaseEnds  time.Time
	NotBefore  time.Time // of a retry that waits
	Cancel     bool
	Placed     bool // made by a cancel request before any message came
	Sent       bool
	Submitted  *store.Submission
	At         time.Time
	Consumed   string // the message that the present outcome answers
	Checkpoint json.RawMessage
	Events     []store.Event
	Effects    []store.Effect // committed
	Commits    int            // completions ever committed (I2)
	Result     json.RawMessage
	Error      store.ErrorInfo
	Dead       *DeadLetter
}

// DeadLetter is a dead letter as the model keeps it.
type DeadLetter struct {
	store.DeadLetterRef
	JobID    string
	Original string
}

// New returns an empty store.
func New() *Jobs {
	return &Jobs{rows: map[string]*Row{}, byMessage: map[string]*DeadLetter{}}
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

// held returns the row of a running job under the current fence (I4).
func (s *Jobs) held(h store.Holder) (*Row, error) {
	r, ok := s.rows[h.JobID]
	if !ok || r.State != job.Running || r.Fence != h.Fence {
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
	r.State = next
}

func (r *Row) append(events []store.Event) {
	for _, e := range events {
		if r.has(e.ID) {
			continue
		}
		r.Progress = max(r.Progress, e.Progress)
		e.Progress = r.Progress
		r.Events = append(r.Events, e)
	}
}

func (r *Row) has(id string) bool {
	for _, e := range r.Events {
		if e.ID == id && id != "" {
			return true
		}
	}
	return false
}

func (r *Row) settled() store.Settled {
	s := store.Settled{State: string(r.State), Attempts: r.Attempts, Result: r.Result}
	if r.State.Terminal() && r.WebhookURL != "" {
		s.Deliveries = 1
	}
	if r.Dead != nil {
		ref := r.Dead.DeadLetterRef
		s.DeadLetter = &ref
	}
	return s
}

func (s *Jobs) bury(jobID, original, reason string, e store.ErrorInfo, attempts int) *DeadLetter {
	d := &DeadLetter{JobID: jobID, Original: original, DeadLetterRef: store.DeadLetterRef{
		ID: strconv.Itoa(len(s.deadLetters) + 1), Reason: reason, Class: e.Class, Message: e.Message, Attempts: attempts,
	}}
	s.deadLetters = append(s.deadLetters, d)
	return d
}

// DeadLetterSent notes that the queue has the copy.
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
