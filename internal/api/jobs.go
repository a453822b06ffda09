package api

import (
	"context"
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// ListInput is how a list is paged. Inputs are exported because the library reads embedded ones.
type ListInput struct {
	Cursor string `query:"cursor" doc:"nextCursor of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"The most items of a page; it may have fewer, also with a nextCursor."`
}

// JobInput names a job.
type JobInput struct {
	ID string `path:"id" maxLength:"128" doc:"Of the job."`
}

type jobsInput struct {
	ListInput
	Status      string    `query:"status" enum:"pending,running,succeeded,failed,canceled"`
	Type        string    `query:"type" maxLength:"64"`
	Text        string    `query:"q" maxLength:"256" doc:"A part of the id, the payload's filename or the error, in any case."`
	DocumentSet string    `query:"documentSet" maxLength:"256"`
	RequestedBy string    `query:"requestedBy" maxLength:"256"`
	Parent      string    `query:"parent" maxLength:"128" doc:"The job that submitted them, or that they replay."`
	Since       time.Time `query:"since" doc:"Made at or after."`
}

// mostSearched is how many jobs one page of a list looks at: few may match.
const mostSearched = 20_000

type bodyOf[T any] struct{ Body T }

func body[T any](v T) *bodyOf[T] { return &bodyOf[T]{v} }

// accepted is the answer to a request that is done soon.
type accepted struct {
	Location string `header:"Location"`
	Body     Job
}

func (a *API) registerJobs() {
	a.registerSubmit()
	register(a, call{
		method: http.MethodGet, path: "/v1/jobs", id: "list-jobs", tag: "jobs", scope: apitoken.Read,
		summary: "List jobs, the newest first",
	}, a.listJobs)
	register(a, call{
		method: http.MethodGet, path: "/v1/jobs/{id}", id: "get-job", tag: "jobs", scope: apitoken.Read, summary: "Get a job",
	}, func(ctx context.Context, in *JobInput) (*bodyOf[Job], error) {
		j, err := a.reader(ctx).Job(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		return body(jobOf(j)), nil
	})
	register(a, call{
		method: http.MethodPost, path: "/v1/jobs/{id}/cancel", id: "cancel-job", tag: "jobs", scope: apitoken.Submit,
		summary: "Cancel a job: a pending one at once, a running one at its next safe point", status: http.StatusAccepted,
	}, a.cancel)
	register(a, call{
		method: http.MethodPost, path: "/v1/jobs/{id}/retry", id: "retry-job", tag: "jobs", scope: apitoken.Operate,
		summary: "Queue a failed job again, under its id", status: http.StatusAccepted,
	}, a.retry)
}

func (a *API) listJobs(ctx context.Context, in *jobsInput) (*bodyOf[Page[Job]], error) {
	after, err := placeOf[store.JobCursor](in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.reader(ctx).FindJobs(ctx, store.JobQuery{
		Status: in.Status, Type: in.Type, Text: in.Text, DocumentSet: in.DocumentSet, RequestedBy: in.RequestedBy,
		Parent: in.Parent, Since: in.Since, After: after, Limit: in.Limit, Most: mostSearched,
	})
	if err != nil {
		return nil, err
	}
	p := Page[Job]{Items: []Job{}}
	for _, j := range found.Jobs {
		p.Items = append(p.Items, jobOf(j))
	}
	if found.Last != nil { // also of a page that is not full
		p.NextCursor = cursorOf(found.Last)
	}
	return body(p), nil
}

func (a *API) cancel(ctx context.Context, in *JobInput) (*accepted, error) {
	// A cancel of an unknown id would record it as canceled. A caller cancels only what he may see.
	if _, err := a.reader(ctx).Job(ctx, in.ID); err != nil {
		return nil, err
	}
	j, err := a.deps.Store.RequestCancel(ctx, in.ID, principalFrom(ctx).Subject)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "canceled a job", "task_id", j.ID)
	return &accepted{"/v1/jobs/" + j.ID, jobOf(j)}, nil
}

type retryInput struct {
	JobInput
	ResetAttempts bool `query:"resetAttempts" doc:"Reset the attempts, also of a job that has used all of them."`
	Force         bool `query:"force" doc:"Reset the attempts, even if its dead letter was replayed as another job."`
}

func (a *API) retry(ctx context.Context, in *retryInput) (*accepted, error) {
	return a.retryAs(ctx, in.ID, replay.Retrying{ResetAttempts: in.ResetAttempts, Force: in.Force})
}

func (a *API) retryAs(ctx context.Context, id string, how replay.Retrying) (*accepted, error) {
	if _, err := a.reader(ctx).Job(ctx, id); err != nil {
		return nil, err
	}
	j, letter, err := a.deps.Replayer.Retry(ctx, id, principalFrom(ctx).Subject, how)
	if err != nil && (j.ID == "" || j.Status != "pending") { // else it is recorded, and a sweep sends it
		return nil, err
	}
	if letter != "" {
		a.removeCopies(ctx, letter)
	}
	a.startsAt(j.RunAt)
	a.audit(ctx, "queued a failed job again", "task_id", j.ID, "reset_attempts", how.ResetAttempts, "force", how.Force)
	return &accepted{"/v1/jobs/" + j.ID, jobOf(j)}, nil
}
