package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// JobEvent is an event of a job.
type JobEvent struct {
	ID        string    `json:"id" format:"uuid"`
	JobID     string    `json:"jobId"`
	Timestamp time.Time `json:"timestamp"`
	Stage     string    `json:"stage" doc:"completed, failed or canceled at the end; empty: a note."`
	Progress  int       `json:"progress" minimum:"0" maximum:"100"`
	Message   string    `json:"message,omitempty"`
	Attempt   int       `json:"attempt"`
	Metadata  *Object   `json:"metadata,omitempty" doc:"pagesCompleted and totalPages; delta: a piece of an answer; restart: it starts over."`
}

func eventOf(e store.JobEvent) JobEvent {
	out := JobEvent{
		ID: e.ID, JobID: e.JobID, Timestamp: e.At.UTC(), Stage: e.Stage, Progress: e.Progress, Message: e.Message,
		Attempt: e.Attempt,
	}
	if bytes.HasPrefix(e.Metadata, []byte("{")) {
		out.Metadata = new(Object(camelKeys(e.Metadata)))
	}
	return out
}

func feedEvent(e store.FeedEvent) JobEvent { return eventOf(e.JobEvent) }

// camelKeys renames the members of an object, not those of objects within it.
func camelKeys(object json.RawMessage) json.RawMessage {
	if !bytes.Contains(object, []byte("_")) {
		return object
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return object
	}
	renamed := make(map[string]json.RawMessage, len(members))
	for name, value := range members {
		words := strings.Split(name, "_")
		for i, w := range words[1:] {
			if w != "" {
				words[i+1] = strings.ToUpper(w[:1]) + w[1:]
			}
		}
		renamed[strings.Join(words, "")] = value
	}
	return encode(renamed)
}

// StreamInput says what of the events is wanted, and how.
type StreamInput struct {
	Accept             string `header:"Accept" hidden:"true"` // text/event-stream: as they come; else a list
	LastEventID        string `header:"Last-Event-ID" maxLength:"512" doc:"The stream goes on after it."`
	LastEventIDAsQuery string `query:"lastEventId" maxLength:"512" doc:"The same, of clients that connect again without the header."`
	Ticket             string `query:"ticket" maxLength:"64" doc:"Of POST /v1/tickets, instead of the header Authorization."`
	ListInput
}

func (in StreamInput) streams() bool { return strings.Contains(in.Accept, eventStream) }

func (in StreamInput) last() string { return cmp.Or(in.LastEventID, in.LastEventIDAsQuery) }

type jobEventsInput struct {
	JobInput
	StreamInput
}

func (a *API) registerEvents() {
	list := schemaOf[Page[JobEvent]](a)
	both := func(more string) map[string]*huma.Response {
		return map[string]*huma.Response{
			"200": {Description: "A list, or a stream of server-sent events: event: job with a JobEvent as data, or event: " +
				"reset with a snapshot when events may be missing." + more, Content: map[string]*huma.MediaType{
				"application/json": {Schema: list}, eventStream: {Schema: &huma.Schema{Type: huma.TypeString}},
			}},
			"204": {Description: "The stream has ended; do not connect again."},
		}
	}
	register(a, call{
		method: http.MethodGet, path: "/v1/jobs/{id}/events", id: "job-events", tag: "events", scope: apitoken.Read,
		summary: "The events of a job, as a list or as they come", responses: both(""),
	}, a.jobEvents)
	register(a, call{
		method: http.MethodGet, path: "/v1/events", id: "events", tag: "events", scope: apitoken.Read,
		summary: "The events of all jobs, as a list or as they come", responses: both(" The list always has a nextCursor."),
	}, a.allEvents)
	register(a, call{
		method: http.MethodPost, path: "/v1/tickets", id: "new-ticket", tag: "events", scope: apitoken.Read,
		summary: "A ticket for one stream, for EventSource, which sends no header", status: http.StatusCreated,
	}, func(ctx context.Context, _ *struct{}) (*bodyOf[Ticket], error) {
		return body(a.tickets.issue(principalFrom(ctx))), nil
	})
}

// listed answers a request for events with a list.
func listed(p Page[JobEvent]) *huma.StreamResponse {
	return &huma.StreamResponse{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", "application/json")
		_, _ = ctx.BodyWriter().Write(append(encode(p), '\n')) // an error means that the client is gone
	}}
}

func (a *API) jobEvents(ctx context.Context, in *jobEventsInput) (*huma.StreamResponse, error) {
	j, err := a.reader(ctx).Job(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if in.streams() {
		return a.streamJob(ctx, j, in.last())
	}
	after, err := placeOf[int64](in.Cursor)
	if err != nil {
		return nil, err
	}
	if after == nil {
		after = new(int64)
	}
	found, err := a.reader(ctx).Events(ctx, in.ID, *after, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return listed(page(found, in.Limit, eventOf, func(e store.JobEvent) string { return cursorOf(e.Seq) })), nil
}

// streamJob streams the events of a job until its end.
func (a *API) streamJob(ctx context.Context, j store.Job, lastID string) (*huma.StreamResponse, error) {
	after, known, err := a.resumeJob(ctx, j.ID, lastID)
	if err != nil {
		return nil, err
	}
	ended := job.State(j.Status).Terminal()
	if ended && known { // its events may have expired
		rest, err := a.deps.Store.Events(ctx, j.ID, after, 1)
		if err != nil {
			return nil, err
		}
		if len(rest) == 0 {
			return nothingMore(), nil
		}
	}
	listener := a.deps.Feed.Watch(j.ID, after)
	return a.stream(ctx, listener, func(s *Stream) error {
		if !known { // with an id, so that the client does not come again with the unknown one
			s.Event("0", "reset", encode(jobOf(j)))
		}
		over := ended
		for {
			events, err := s.Next(listener)
			if errors.Is(err, feed.ErrSlow) { // it goes on after the last event that was sent
				now, err := a.deps.Store.Job(s.ctx, j.ID)
				if err != nil {
					return err
				}
				s.Event("", "reset", encode(jobOf(now)))
				return nil
			}
			if err != nil {
				return err
			}
			for _, e := range events {
				text, _ := e.Encoded(encodeEvent)
				s.Event(strconv.FormatInt(e.Seq, 10), "job", text)
				over = job.IsEnd(e.Stage) || over && e.Stage != "restarted"
			}
			if over && listener.CaughtUp() {
				return nil
			}
		}
	})
}

// resumeJob returns the number of the event after which a stream goes on. An unknown one is answered with all events.
func (a *API) resumeJob(ctx context.Context, id, lastID string) (after int64, known bool, err error) {
	if lastID == "" {
		return 0, true, nil
	}
	after, parseErr := strconv.ParseInt(lastID, 10, 64)
	if parseErr != nil || after < 0 {
		return 0, false, nil //nolint:nilerr // an id that is not known
	}
	if after == 0 {
		return 0, true, nil
	}
	found, err := a.deps.Store.Events(ctx, id, after-1, 1)
	if err != nil {
		return 0, false, err
	}
	if len(found) == 0 || found[0].Seq != after {
		return 0, false, nil
	}
	return after, true, nil
}

func encodeEvent(e store.FeedEvent) []byte { return encode(feedEvent(e)) }

func (a *API) allEvents(ctx context.Context, in *StreamInput) (*huma.StreamResponse, error) {
	if in.streams() {
		return a.streamAll(ctx, in.last(), in.Cursor)
	}
	after := store.FeedPosition{Tx: 1, At: time.Now()} // the first event that is kept
	if in.Cursor != "" {
		var err error
		if after, err = feed.ParseCursor(in.Cursor); err != nil {
			return nil, invalid("query.cursor", "is not a cursor of this list; begin again without it")
		}
	}
	found, err := a.reader(ctx).Feed(ctx, store.FeedQuery{After: &after, Limit: in.Limit, Keep: a.deps.Feed.Keep()})
	if err != nil {
		return nil, err
	}
	if found.Reset {
		return nil, problem(http.StatusGone, "CURSOR_EXPIRED", "the cursor is too old; begin again without it")
	}
	p := Page[JobEvent]{Items: []JobEvent{}, NextCursor: feed.Cursor(found.Next)}
	for _, e := range found.Events {
		p.Items = append(p.Items, feedEvent(e))
	}
	return listed(p), nil
}

// streamAll streams the events of all jobs from now on, or after a cursor.
func (a *API) streamAll(ctx context.Context, lastID, cursor string) (*huma.StreamResponse, error) {
	if lastID == "" {
		lastID = cursor
	}
	var after store.FeedPosition
	known := true
	if lastID != "" {
		var err error
		after, err = feed.ParseCursor(lastID)
		known = err == nil
	}
	if err := a.mayRead(ctx); err != nil {
		return nil, err
	}
	listener := a.deps.Feed.Follow(after)
	return a.stream(ctx, listener, func(s *Stream) error {
		for first := true; ; first = false {
			events, err := s.Next(listener)
			switch {
			case errors.Is(err, feed.ErrReset), first && !known && err == nil:
				s.Event(feed.Cursor(listener.Position()), "reset", a.snapshot(s.ctx))
			case errors.Is(err, feed.ErrSlow): // it goes on after the last event that was sent
				s.Event("", "reset", a.snapshot(s.ctx))
				return nil
			case err != nil:
				return err
			case first:
				s.id(feed.Cursor(listener.Position()))
			}
			for _, e := range events {
				text, cursor := e.Encoded(encodeEvent)
				s.Event(cursor, "job", text)
			}
		}
	})
}

const (
	maxSnapshot   = 200       // jobs
	snapshotBytes = 512 << 10 // of each state, but for the last job: many streams may begin anew at the same time
)

// snapshot is the active jobs, the newest first, as far as they fit.
func (a *API) snapshot(ctx context.Context) []byte {
	p := Page[Job]{Items: []Job{}}
	for _, status := range []job.State{job.Running, job.Pending} {
		found, err := a.deps.Store.FindJobs(ctx, store.JobQuery{
			Status: string(status), Limit: maxSnapshot - len(p.Items), Most: maxSnapshot, Bytes: snapshotBytes,
		})
		if err != nil {
			a.deps.Log.Warn("a stream's snapshot is incomplete", "error", err)
		}
		for _, j := range found.Jobs {
			p.Items = append(p.Items, jobOf(j))
		}
		if len(p.Items) >= maxSnapshot {
			break
		}
	}
	return encode(p)
}
