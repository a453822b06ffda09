package memory

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Reader reads the jobs of a Jobs, as the tenant ClientID.
type Reader struct {
	Store    *Jobs
	ClientID string
}

var (
	_ store.Reader = Reader{}
	_ store.Feeds  = Reader{}
)

// job returns the row as people see it.
func (r *Row) job() store.Job {
	j := store.Job{
		ID: r.JobID, Type: r.Type, Status: string(r.State), Stage: r.Stage, Progress: r.Progress, Attempts: r.Attempts,
		MaxAttempts: r.MaxAttempts, Priority: r.Priority, Payload: r.Payload, Hints: r.Hints, ErrorClass: r.Error.Class,
		ErrorCode: r.Error.Code, ErrorMessage: r.Error.Message, ErrorType: r.Error.Coarse,
		RetryCount: max(0, r.Attempts-1), WorkerID: r.Worker, Result: r.Result, RequestedBy: r.RequestedBy,
		CancelAsked: r.Cancel, CreatedAt: r.Created, UpdatedAt: r.Updated,
	}
	if started := r.Started; !started.IsZero() {
		j.StartedAt = &started
	}
	if ended := r.Ended; !ended.IsZero() {
		j.CompletedAt = &ended
	}
	if r.State == job.Failed {
		j.ProcessingMS = &r.Error.ProcessingMS
	}
	return j
}

// Job returns a job, or store.ErrNotFound.
func (v Reader) Job(_ context.Context, id string) (store.Job, error) {
	v.Store.mu.Lock()
	defer v.Store.mu.Unlock()
	r, ok := v.Store.rows[id]
	if !ok {
		return store.Job{}, store.ErrNotFound
	}
	j := r.job()
	j.ClientID = v.ClientID
	return j, nil
}

// Jobs lists jobs, newest first.
func (v Reader) Jobs(ctx context.Context, f store.JobFilter) ([]store.Job, error) {
	v.Store.mu.Lock()
	ids := slices.Clone(v.Store.order)
	v.Store.mu.Unlock()
	slices.Reverse(ids)
	var out []store.Job
	for _, id := range ids {
		j, err := v.Job(ctx, id)
		if err != nil {
			return nil, err
		}
		if len(out) < f.Limit && (f.Status == "" || f.Status == j.Status) && (f.Type == "" || f.Type == j.Type) &&
			before(j.CreatedAt, f.Before) {
			out = append(out, j)
		}
	}
	return out, nil
}

func before(t, limit time.Time) bool { return limit.IsZero() || t.Before(limit) }

// Events returns a job's events after a number, in order.
func (v Reader) Events(_ context.Context, jobID string, after int64, limit int) ([]store.JobEvent, error) {
	v.Store.mu.Lock()
	defer v.Store.mu.Unlock()
	r, ok := v.Store.rows[jobID]
	if !ok {
		return nil, nil
	}
	rest := r.Events[min(int(after), len(r.Events)):]
	return slices.Clone(rest[:min(limit, len(rest))]), nil
}

// DeadLetters lists dead letters, newest first.
func (v Reader) DeadLetters(_ context.Context, f store.DeadLetterFilter) ([]store.DeadLetter, error) {
	letters := v.Store.DeadLetters()
	slices.Reverse(letters)
	var out []store.DeadLetter
	for _, d := range letters {
		if len(out) < f.Limit && (f.JobID == "" || f.JobID == d.JobID) && (f.Type == "" || f.Type == d.Type) &&
			(f.Class == "" || f.Class == d.Class) && before(d.Created, f.Before) {
			one := d.letter()
			if f.Brief {
				one.Original = ""
			}
			out = append(out, one)
		}
	}
	return out, nil
}

// DeadLetter returns a dead letter, or store.ErrNotFound.
func (v Reader) DeadLetter(_ context.Context, id string) (store.DeadLetter, error) {
	for _, d := range v.Store.DeadLetters() {
		if d.ID == id {
			return d.letter(), nil
		}
	}
	return store.DeadLetter{}, store.ErrNotFound
}

func (d DeadLetter) letter() store.DeadLetter {
	return store.DeadLetter{
		ID: d.ID, JobID: d.JobID, TaskType: d.Type, Reason: d.Reason, ErrorClass: d.Class, ErrorCode: d.Error.Code,
		ErrorMessage: d.Message,
		ErrorType:    d.Error.Coarse, RetryCount: max(0, d.Attempts-1), ProcessingMS: &d.Error.ProcessingMS,
		WorkerID: d.Worker,
		Attempts: d.Attempts, Original: d.Original, SourceQueue: d.Source.Queue, CreatedAt: d.Created,
	}
}

// JobDeliveries lists the webhooks of a job.
func (v Reader) JobDeliveries(_ context.Context, jobID string) ([]store.DeliveryStatus, error) {
	v.Store.mu.Lock()
	defer v.Store.mu.Unlock()
	r, ok := v.Store.rows[jobID]
	if !ok {
		return nil, nil
	}
	out := make([]store.DeliveryStatus, len(r.Outbox))
	for i, w := range r.Outbox {
		out[i] = store.DeliveryStatus{ID: w.ID, JobID: jobID, URL: w.URL, Status: store.DeliveryPending}
	}
	return out, nil
}

// Search returns an error: the model has no documents.
func (Reader) Search(context.Context, store.Query) ([]store.Hit, error) {
	return nil, errors.New("memory: there are no documents to search")
}

// Rarity is of no documents.
func (Reader) Rarity(context.Context, string) (store.Rarity, error) { return store.Rarity{}, nil }
