package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// DeadLetter is a task that failed for good.
type DeadLetter struct {
	ID           string     `json:"id"`
	JobID        string     `json:"jobId,omitempty" doc:"Left out: the message named no job."`
	TaskType     string     `json:"taskType,omitempty"`
	Reason       string     `json:"reason"`
	ErrorClass   string     `json:"errorClass"`
	ErrorCode    string     `json:"errorCode,omitempty"`
	ErrorMessage string     `json:"errorMessage"`
	Attempts     int        `json:"attempts"`
	CreatedAt    time.Time  `json:"createdAt"`
	ReplayedAt   *time.Time `json:"replayedAt,omitempty"`
	ReplayedAs   string     `json:"replayedAs,omitempty" doc:"The id of the job that replays it."`
	Original     string     `json:"originalMessage" doc:"As it came; without the scope operate, of its webhook_url the host alone."`
}

// letterOf is a dead letter as a caller may see it.
func letterOf(ctx context.Context, d store.DeadLetter) DeadLetter {
	if principalFrom(ctx).Scope < apitoken.Operate {
		d.Original = task.HideWebhook(d.Original)
	}
	return DeadLetter{
		ID: d.ID, JobID: d.JobID, TaskType: d.TaskType, Reason: d.Reason, ErrorClass: d.ErrorClass, ErrorCode: d.ErrorCode,
		ErrorMessage: d.ErrorMessage, Attempts: d.Attempts, CreatedAt: d.CreatedAt.UTC(), ReplayedAt: utc(d.ReplayedAt),
		ReplayedAs: d.ReplayedAs, Original: d.Original,
	}
}

type lettersInput struct {
	ListInput
	JobID  string    `query:"jobId" maxLength:"128"`
	Type   string    `query:"type" maxLength:"64"`
	Class  string    `query:"class" maxLength:"64"`
	Reason string    `query:"reason" maxLength:"64"`
	Since  time.Time `query:"since"`
}

// LetterInput names a dead letter.
type LetterInput struct {
	ID string `path:"id" maxLength:"64" doc:"Of the dead letter."`
}

// BulkReplay selects dead letters to replay. Those that were replayed before are left out unless force is set. An empty
// text is refused: it would select all of them.
type BulkReplay struct {
	Type      string     `json:"type,omitempty" minLength:"1" maxLength:"64"`
	Class     string     `json:"class,omitempty" minLength:"1" maxLength:"64"`
	Reason    string     `json:"reason,omitempty" minLength:"1" maxLength:"64"`
	OlderThan *time.Time `json:"olderThan,omitempty"`
	NewerThan *time.Time `json:"newerThan,omitempty"`
	Limit     int        `json:"limit,omitempty" minimum:"1" maximum:"200" doc:"The most that are replayed. Default: 50."`
	DryRun    bool       `json:"dryRun,omitempty" doc:"Tell what would be replayed, and replay nothing."`
	Force     bool       `json:"force,omitempty" doc:"Also what was replayed before."`
	PerMinute int        `json:"perMinute,omitempty" minimum:"1" maximum:"6000" doc:"How many of the new jobs start within a minute; the others wait for their time. Default: all start at once."`
}

// BulkReplayed is what became of a BulkReplay.
type BulkReplayed struct {
	Matched     int           `json:"matched"`
	Replayed    int           `json:"replayed"`
	Jobs        []Job         `json:"jobs" nullable:"false" doc:"The new jobs."`
	NotReplayed []NotReplayed `json:"notReplayed" nullable:"false" doc:"What was matched and not replayed; empty in a dry run."`
}

// NotReplayed is a dead letter that a BulkReplay matched and did not replay.
type NotReplayed struct {
	ID     string `json:"id" doc:"Of the dead letter."`
	Code   string `json:"code" doc:"As of a problem; NOT_TRIED: an earlier one could not be done." example:"NOT_REPLAYABLE"`
	Detail string `json:"detail,omitempty"`
}

func (a *API) registerLetters() {
	register(a, call{
		method: http.MethodGet, path: "/v1/dead-letters", id: "list-dead-letters", tag: "dead letters", scope: apitoken.Read,
		summary: "List dead letters, the newest first",
	}, a.listLetters)
	register(a, call{
		method: http.MethodGet, path: "/v1/dead-letters/{id}", id: "get-dead-letter", tag: "dead letters",
		scope: apitoken.Read, summary: "Get a dead letter",
	}, func(ctx context.Context, in *LetterInput) (*bodyOf[DeadLetter], error) {
		d, err := a.deps.Store.DeadLetter(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		return body(letterOf(ctx, d)), nil
	})
	register(a, call{
		method: http.MethodPost, path: "/v1/dead-letters/{id}/replay", id: "replay-dead-letter", tag: "dead letters",
		scope: apitoken.Operate, summary: "Do a dead letter's task again, as a new job", status: http.StatusAccepted,
	}, a.replayLetter)
	register(a, call{
		method: http.MethodPost, path: "/v1/dead-letters/replay", id: "replay-dead-letters", tag: "dead letters",
		scope: apitoken.Operate, summary: "Replay dead letters by filter, the oldest first", status: http.StatusAccepted,
	}, a.replayLetters)
	register(a, call{
		method: http.MethodDelete, path: "/v1/dead-letters/{id}", id: "delete-dead-letter", tag: "dead letters",
		scope: apitoken.Operate, summary: "Remove a dead letter for good", status: http.StatusNoContent,
	}, a.deleteLetter)
}

func (a *API) listLetters(ctx context.Context, in *lettersInput) (*bodyOf[Page[DeadLetter]], error) {
	after, err := placeOf[store.DeadLetterCursor](in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.deps.Store.DeadLetters(ctx, store.DeadLetterFilter{
		JobID: in.JobID, Type: in.Type, Class: in.Class, Reason: in.Reason, Since: in.Since, After: after,
		Limit: in.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	of := func(d store.DeadLetter) DeadLetter { return letterOf(ctx, d) }
	p := page(found, in.Limit, of, func(d store.DeadLetter) string { return cursorOf(d.Cursor()) })
	if n := len(found); n > 0 && found[n-1].More { // it ends early
		p.NextCursor = cursorOf(found[n-1].Cursor())
	}
	return body(p), nil
}

type replayInput struct {
	LetterInput
	Force bool `query:"force" doc:"Even if it was replayed before."`
}

func (a *API) replayLetter(ctx context.Context, in *replayInput) (*accepted, error) {
	return a.replayAs(ctx, in.ID, replay.Options{Again: in.Force})
}

func (a *API) replayAs(ctx context.Context, id string, o replay.Options) (*accepted, error) {
	j, err := a.replay(ctx, id, o)
	if err != nil {
		return nil, err
	}
	a.removeCopies(ctx, id)
	return &accepted{"/v1/jobs/" + j.ID, j}, nil
}

// replay replays one dead letter, and returns the new job.
func (a *API) replay(ctx context.Context, id string, o replay.Options) (Job, error) {
	o.By = principalFrom(ctx).Subject
	done, err := a.deps.Replayer.Replay(ctx, id, o)
	if err != nil && done.JobID == "" { // else it is recorded, and a sweep sends it
		return Job{}, err
	}
	a.audit(ctx, "replayed a dead letter", "dead_letter", id, "task_id", done.JobID)
	a.startsAt(&o.SendAt)
	j, err := a.deps.Store.Job(ctx, done.JobID)
	if err != nil { // the job is there: its id is what the caller needs
		now := time.Now()
		j = store.Job{
			ID: done.JobID, ParentJobID: done.ParentJobID, Status: string(job.Pending), RequestedBy: o.By,
			Priority: string(task.PriorityNormal), CreatedAt: now, UpdatedAt: now,
		}
	}
	a.startsAt(j.RunAt)
	return jobOf(j), nil
}

// startsAt tells this worker when a job's message is to be sent; zero or nil: it is sent.
func (a *API) startsAt(t *time.Time) {
	if t != nil && !t.IsZero() && a.deps.StartsAt != nil {
		a.deps.StartsAt(*t)
	}
}

// mostLooked is how many dead letters a bulk replay looks at: those that can't be replayed don't count to its limit.
const mostLooked = 1000

func (a *API) replayLetters(ctx context.Context, in *bodyOf[BulkReplay]) (*bodyOf[BulkReplayed], error) {
	b := in.Body
	f := store.DeadLetterFilter{Type: b.Type, Class: b.Class, Reason: b.Reason, Oldest: true, Brief: true, Limit: b.Limit}
	if f.Limit == 0 {
		f.Limit = 50
	}
	if !b.Force {
		f.Replayed = "no"
	}
	if b.OlderThan != nil {
		f.Before = *b.OlderThan
	}
	if b.NewerThan != nil {
		f.Since = *b.NewerThan
	}
	out, began := BulkReplayed{Jobs: []Job{}, NotReplayed: []NotReplayed{}}, time.Now()
	if b.DryRun {
		for _, err := range store.WalkDeadLetters(ctx, a.deps.Store, f) {
			if err != nil {
				return nil, err
			}
			out.Matched++
		}
		return body(out), nil
	}
	for most, more := f.Limit, true; more; { // those that can't be replayed leave their places to later ones
		letters, err := a.deps.Store.DeadLetters(ctx, f)
		if err != nil && out.Replayed == 0 {
			return nil, err
		}
		if out.Matched += len(letters); len(letters) == 0 {
			break // a failure later on is that of the next request
		}
		if more, err = a.replayEach(ctx, letters, b, &out); err != nil {
			return nil, err
		}
		last := letters[len(letters)-1]
		more = more && (len(letters) == f.Limit || last.More) && out.Replayed < most && out.Matched < mostLooked
		f.Limit, f.After = most-out.Replayed, last.Cursor()
		if f.Before.IsZero() {
			f.Before = began // what fails again meanwhile is for another request
		}
	}
	return body(out), nil
}

// replayEach replays dead letters until the database fails, and reports whether all were tried. If it fails at once, it
// returns the error: there is nothing to tell. Otherwise the answer tells what was done, and what was not.
func (a *API) replayEach(
	ctx context.Context, letters []store.DeadLetter, b BulkReplay, out *BulkReplayed,
) (all bool, err error) {
	begin := time.Now()
	var replayed []string
	defer func() { a.removeCopies(ctx, replayed...) }()
	for i, d := range letters {
		o := replay.Options{Again: b.Force}
		if b.PerMinute > 0 && out.Replayed > 0 { // the first one starts at once
			o.SendAt = begin.Add(time.Duration(out.Replayed) * time.Minute / time.Duration(b.PerMinute))
		}
		j, err := a.replay(ctx, d.ID, o)
		if err == nil {
			out.Replayed++
			replayed = append(replayed, d.ID)
			out.Jobs = append(out.Jobs, j)
			continue
		}
		if refused := describe(err); refused != nil { // it does not hold up the others
			out.NotReplayed = append(out.NotReplayed, NotReplayed{d.ID, refused.Code, refused.Detail})
			continue
		}
		if out.Replayed == 0 {
			return false, err
		}
		failed := NotReplayed{ID: d.ID, Detail: "its replay was not answered; its replayedAs tells whether it was recorded"}
		if p, ok := errors.AsType[*Problem](a.answer(ctx, "replay dead letters", err)); ok {
			failed.Code = p.Code
		}
		out.NotReplayed = append(out.NotReplayed, failed)
		for _, d := range letters[i+1:] {
			out.NotReplayed = append(out.NotReplayed, NotReplayed{ID: d.ID, Code: "NOT_TRIED"})
		}
		return false, nil
	}
	return true, nil
}

// unsentFor is how old a dead letter is whose message can't come again.
const unsentFor = 24 * time.Hour

func (a *API) deleteLetter(ctx context.Context, in *LetterInput) (*struct{}, error) {
	a.removeCopies(ctx, in.ID) // first: a row without a copy can be removed later, a copy without a row is not found again
	gone, err := a.deps.Store.Purge(ctx, []string{in.ID}, unsentFor)
	if err != nil {
		return nil, err
	}
	if len(gone) == 0 {
		if _, err := a.deps.Store.DeadLetter(ctx, in.ID); err != nil {
			return nil, err
		}
		return nil, problem(http.StatusConflict, "STILL_IN_USE", "its message may still be on its queue; try again later")
	}
	a.audit(ctx, "removed a dead letter", "dead_letter", in.ID)
	return nil, nil
}
