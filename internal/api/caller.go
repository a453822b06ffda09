package api

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Caller makes calls from within the process, for pages that the worker renders. They are the API's own: with the
// caller's scope, his limits and the audit. Errors are a *Problem.
type Caller struct {
	api *API
	by  Principal
}

// CallerOf returns the caller who has a token, and counts a request of his.
func (a *API) CallerOf(ctx context.Context, token string) (*Caller, error) {
	p, err := a.auth.bearer(ctx, token)
	if err != nil {
		return nil, unauthenticated(err)
	}
	if limited := a.take(p); limited != nil {
		return nil, limited
	}
	if refused := p.may(apitoken.Read); refused != nil {
		return nil, refused
	}
	return &Caller{a, p}, nil
}

// Open reports whether there is anybody who may call.
func (a *API) Open() bool { return a.auth.open() }

// Name is the caller's: of his token, or the user's id.
func (c *Caller) Name() string { return c.by.Subject }

// Scope is what the caller may do.
func (c *Caller) Scope() apitoken.Scope { return c.by.Scope }

// May reports whether the caller has a scope.
func (c *Caller) May(need apitoken.Scope) bool { return c.by.Scope >= need }

// Require returns why the caller may not do what needs a scope.
func (c *Caller) Require(need apitoken.Scope) error {
	refused := c.by.may(need)
	if refused == nil {
		return nil // a nil *Problem in an error would not be nil
	}
	return refused
}

// as is ctx as the calls get it.
func (c *Caller) as(ctx context.Context) context.Context {
	return context.WithValue(ctx, principalKey{}, c.by)
}

// Reader is the store with which the caller reads jobs, documents and results: with a user's own right, where the
// database decides.
func (c *Caller) Reader(ctx context.Context) store.Store { return c.api.reader(c.as(ctx)) }

// Operation is the store with which callers see what is not theirs alone: dead letters, deliveries, the context of a
// job that Reader has found.
func (c *Caller) Operation() store.Store { return c.api.deps.Store }

// Describe is the Problem for an error of a store.
func (c *Caller) Describe(ctx context.Context, doing string, err error) *Problem {
	if known, ok := errors.AsType[*Problem](c.api.answer(ctx, doing, err)); ok {
		return known
	}
	return failure()
}

// within makes the call with an id.
func within[I, O any](
	ctx context.Context, c *Caller, id string, in *I, do func(context.Context, *I) (*O, error),
) (out *O, err error) {
	c.api.ready()
	if refused := c.by.may(c.api.scopes[id]); refused != nil {
		return nil, refused
	}
	ctx = c.as(ctx)
	if out, err = do(ctx, in); err != nil {
		return nil, c.api.answer(ctx, id, err)
	}
	return out, nil
}

// Submit submits a job; a repeated key is the same job.
func (c *Caller) Submit(ctx context.Context, j NewJob, key string) (Job, error) {
	out, err := within(ctx, c, "submit-job", &submitInput{Key: key, RawBody: encode(j), Body: j}, c.api.submit)
	if err != nil {
		return Job{}, err
	}
	return out.Body, nil
}

// Cancel cancels a job: a pending one at once, a running one at its next safe point.
func (c *Caller) Cancel(ctx context.Context, id string) (Job, error) {
	return jobIn(within(ctx, c, "cancel-job", &JobInput{ID: id}, c.api.cancel))
}

// Retry queues a failed job again, with all its attempts. It refuses one whose dead letter was replayed.
func (c *Caller) Retry(ctx context.Context, id string) (Job, error) {
	return jobIn(within(ctx, c, "retry-job", &JobInput{id}, func(ctx context.Context, in *JobInput) (*accepted, error) {
		return c.api.retryAs(ctx, in.ID, replay.Retrying{ResetAttempts: true})
	}))
}

// Replay does a dead letter's task again; force: even if it was replayed before, but not after the replays that the caller
// has seen, if seen is not nil.
func (c *Caller) Replay(ctx context.Context, id string, force bool, seen *int) (Job, error) {
	return jobIn(within(ctx, c, "replay-dead-letter", &LetterInput{id}, func(ctx context.Context, in *LetterInput) (*accepted, error) {
		return c.api.replayAs(ctx, in.ID, replay.Options{Again: force, Seen: seen})
	}))
}

func jobIn(out *accepted, err error) (Job, error) {
	if err != nil {
		return Job{}, err
	}
	return out.Body, nil
}

// ReplayAll replays dead letters by filter, or tells how many it would replay.
func (c *Caller) ReplayAll(ctx context.Context, b BulkReplay) (BulkReplayed, error) {
	out, err := within(ctx, c, "replay-dead-letters", body(b), c.api.replayLetters)
	if err != nil {
		return BulkReplayed{}, err
	}
	return out.Body, nil
}

// DeleteLetter removes a dead letter for good.
func (c *Caller) DeleteLetter(ctx context.Context, id string) error {
	_, err := within(ctx, c, "delete-dead-letter", &LetterInput{id}, c.api.deleteLetter)
	return err
}

// Document finds a document and its headings.
func (c *Caller) Document(ctx context.Context, id string) (store.DocumentOutline, error) {
	out, err := within(ctx, c, "get-document", &id, func(ctx context.Context, id *string) (*store.DocumentOutline, error) {
		d, err := c.api.outline(ctx, *id)
		return &d, err
	})
	if err != nil {
		return store.DocumentOutline{}, err
	}
	return *out, nil
}

// Picture draws a page of a document, unless the caller has the one with the ETag.
func (c *Caller) Picture(ctx context.Context, id string, page int, etag string) (*Picture, error) {
	in := &pictureInput{PageInput{DocumentInput{id}, page}, etag}
	return within(ctx, c, "page-picture", in, c.api.pagePicture)
}

// DeleteDocument removes a document from the index, by a job.
func (c *Caller) DeleteDocument(ctx context.Context, id string) (Job, error) {
	return jobIn(within(ctx, c, "delete-document", &DocumentInput{id}, c.api.deleteDocument))
}

// Resend has a webhook sent again; force: even if it was delivered.
func (c *Caller) Resend(ctx context.Context, id string, force bool) (Delivery, error) {
	out, err := within(ctx, c, "resend-webhook", &resendInput{ID: id, Force: force}, c.api.resend)
	if err != nil {
		return Delivery{}, err
	}
	return out.Body, nil
}

// Schedules lists schedules by name, those after a cursor; empty: from the first one.
func (c *Caller) Schedules(ctx context.Context, cursor string, limit int) (Page[Schedule], error) {
	out, err := within(ctx, c, "list-schedules", &ListInput{Cursor: cursor, Limit: limit}, c.api.listSchedules)
	if err != nil {
		return Page[Schedule]{}, err
	}
	return out.Body, nil
}

// Schedule finds a schedule.
func (c *Caller) Schedule(ctx context.Context, id string) (Schedule, error) {
	out, err := within(ctx, c, "get-schedule", &ScheduleInput{id}, c.api.getSchedule)
	if err != nil {
		return Schedule{}, err
	}
	return out.Body, nil
}

// AddSchedule adds a schedule.
func (c *Caller) AddSchedule(ctx context.Context, s NewSchedule) (Schedule, error) {
	out, err := within(ctx, c, "add-schedule", body(s), c.api.addSchedule)
	if err != nil {
		return Schedule{}, err
	}
	return out.Body, nil
}

// ChangeSchedule changes a schedule. What is left out stays.
func (c *Caller) ChangeSchedule(ctx context.Context, id string, change ScheduleChange) (Schedule, error) {
	out, err := within(ctx, c, "change-schedule", &changeScheduleInput{ScheduleInput{id}, change}, c.api.changeSchedule)
	if err != nil {
		return Schedule{}, err
	}
	return out.Body, nil
}

// RemoveSchedule removes a schedule. Its jobs stay.
func (c *Caller) RemoveSchedule(ctx context.Context, id string) error {
	_, err := within(ctx, c, "remove-schedule", &ScheduleInput{id}, c.api.removeSchedule)
	return err
}

// Queues returns the queues and about how many messages they have.
func (c *Caller) Queues(ctx context.Context) ([]Queue, error) {
	out, err := within(ctx, c, "list-queues", new(struct{}), c.api.listQueues)
	if err != nil {
		return nil, err
	}
	return out.Body.Items, nil
}

// PutBlob writes a new blob of a request's content, of up to MaxPut bytes. w is that request's response.
func (c *Caller) PutBlob(ctx context.Context, w http.ResponseWriter, name, kind string, content io.ReadCloser) (Blob, error) {
	in := newBlob{field: "file", name: name, kind: kind, content: content, w: w}
	out, err := within(ctx, c, "put-blob", &in, func(ctx context.Context, in *newBlob) (*bodyOf[Blob], error) {
		return c.api.put(ctx, *in)
	})
	if err != nil {
		return Blob{}, err
	}
	return out.Body, nil
}

// Watch answers a request with a stream of a job's events after one of them; an empty id: of all jobs, from now on. do
// writes until it returns; Stream.Next gives it the events.
func (c *Caller) Watch(
	w http.ResponseWriter, r *http.Request, jobID string, after int64, do func(*Stream, *feed.Listener) error,
) error {
	ctx := c.as(r.Context())
	if err := c.api.mayRead(ctx); err != nil {
		return c.api.answer(ctx, "watch", err)
	}
	if !c.api.limits.beginStream(c.by.identity()) {
		return tooManyStreams()
	}
	var l *feed.Listener
	if jobID == "" {
		l = c.api.deps.Feed.Follow(store.FeedPosition{})
	} else {
		l = c.api.deps.Feed.Watch(jobID, after)
	}
	c.api.serveStream(ctx, w, r, c.by, l, func(s *Stream) error { return do(s, l) })
	return nil
}
