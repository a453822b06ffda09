package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/feed"
	jobs "github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

const (
	mostShown     = 100 // events that are listed
	childrenShown = 10
	mostAnswer    = 200_000 // bytes of an answer that is being written
)

// jobPage is what the page of a job shows.
type jobPage struct {
	Live       jobLive
	Context    store.JobContext
	Trace      string
	Deliveries []store.DeliveryEntry
	Letter     *store.DeadLetter // of its failure
	Parent     *store.Job
	Document   string // id of what it made
	More       bool   // it has more children than are shown
}

// jobLive is the part of it that is live.
type jobLive struct {
	Job       store.Job
	Stages    []stage
	Timeline  timeline
	Events    []store.JobEvent // the last ones, the newest first
	All       int              // of them, with those that are not listed
	Answer    string           // as it is written, or was
	Citations []citation
	Cancel    bool // the caller may
	Retry     bool
	Ended     bool
}

// Colour is that of the job's progress.
func (l jobLive) Colour() string {
	switch l.Job.Status {
	case "succeeded":
		return "done"
	case "failed":
		return "bad"
	case "running":
		return "fill"
	}
	return "idle"
}

// stage is a step of a job's type.
type stage struct {
	Name  string
	State string // done, current, ahead or failed
}

// citation is a passage that an answer rests on.
type citation struct {
	DocumentID string `json:"document_id"`
	Filename   string `json:"filename"`
	ChunkID    string `json:"chunk_id"`
	Page       *int   `json:"page"`
	Quote      string `json:"quote"`
}

func (p *page) job() error {
	ctx, cancel := p.ctx()
	defer cancel()
	id := p.r.PathValue("id")
	j, err := p.by.Reader(ctx).Job(ctx, id)
	if err != nil {
		return err
	}
	var v jobPage
	var events []store.JobEvent
	var g errgroup.Group
	g.Go(func() (err error) {
		if v.Context, err = p.by.Operation().JobContext(ctx, id); err != nil {
			return err
		}
		if v.More = len(v.Context.Children) > childrenShown; v.More {
			v.Context.Children = v.Context.Children[:childrenShown]
		}
		events, err = p.eventsOf(ctx, id, v.Context.Events)
		return err
	})
	g.Go(func() (err error) {
		v.Deliveries, err = p.by.Operation().ListDeliveries(ctx, store.DeliveryFilter{JobID: id, Limit: 20})
		return err
	})
	g.Go(func() error {
		letters, err := p.by.Operation().DeadLetters(ctx, store.DeadLetterFilter{JobID: id, Limit: 1})
		if len(letters) > 0 {
			v.Letter = &letters[0]
		}
		return err
	})
	g.Go(func() error {
		if j.ParentJobID == "" {
			return nil
		}
		parent, err := p.by.Reader(ctx).Job(ctx, j.ParentJobID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		v.Parent = &parent
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	v.Context.Message, v.Context.Received = p.message(v.Context.Message), p.message(v.Context.Received)
	if v.Letter != nil {
		v.Letter.Original = p.message(v.Letter.Original)
	}
	v.Live = p.liveOf(j, events)
	v.Document = member(j.Result, "document_id")
	if parts := strings.Split(v.Context.TraceParent, "-"); len(parts) == 4 {
		v.Trace = parts[1]
	}
	return p.show("job", subject(j), "jobs", v)
}

// message is the text of a message as the caller may see it.
func (p *page) message(text string) string {
	if p.by.May(apitoken.Operate) {
		return text
	}
	return task.HideWebhook(text)
}

// liveOf makes the live part of a job and its events.
func (p *page) liveOf(j store.Job, events []store.JobEvent) jobLive {
	l := jobLive{
		Job: j, Timeline: timelineOf(j, events), Stages: stagesOf(j, events), Ended: jobs.State(j.Status).Terminal(),
		Cancel: p.by.May(apitoken.Submit) && (j.Status == "pending" || j.Status == "running") && !j.CancelAsked,
		Retry:  p.by.May(apitoken.Operate) && j.Status == "failed",
	}
	l.Answer = member(j.Result, "answer", "summary")
	if l.Answer == "" {
		l.Answer = written(events)
	}
	var made struct {
		Citations []citation `json:"citations"`
	}
	if json.Unmarshal(j.Result, &made) == nil {
		l.Citations = made.Citations
	}
	shown := make([]store.JobEvent, 0, len(events))
	for _, e := range events {
		if _, ok := e.Delta(); !ok {
			shown = append(shown, e)
		}
	}
	if n := len(events); n > 0 {
		l.All = int(events[n-1].Seq)
	}
	l.Events = shown[max(len(shown)-mostShown, 0):]
	slices.Reverse(l.Events)
	return l
}

// written is the answer that the last attempt has written so far, without what it has taken back. Its number doesn't tell
// it from others: it repeats after an attempt that was not counted, and in another series.
func written(events []store.JobEvent) string {
	var text strings.Builder
	attempt := 0
	for i, e := range events {
		d, _ := e.Delta()
		if e.Attempt != attempt || d.Restart || e.Stage == "started" || e.Stage == "restarted" {
			attempt = e.Attempt
			text.Reset()
		}
		if i > 0 && e.Seq != events[i-1].Seq+1 && text.Len() > 0 {
			text.WriteString(" […] ") // events that were not read
		}
		if text.Len() < mostAnswer {
			text.WriteString(d.Piece)
		}
	}
	return text.String()
}

// stagesOf are the steps of a job's type, and how far it is: of one that has ended, by its last event of a step.
func stagesOf(j store.Job, events []store.JobEvent) (all []stage) {
	steps := jobs.Stages[task.Type(j.Type)]
	at := -1
	for _, e := range events {
		if e.Stage == "restarted" || e.Stage == "started" {
			at = -1
		}
		if i := slices.IndexFunc(steps, func(s jobs.Stage) bool { return s.Name == e.Stage }); i >= 0 {
			at = i
		}
	}
	for i, s := range steps {
		one := stage{Name: words(s.Name), State: "ahead"}
		switch {
		case j.Status == "succeeded", i < at:
			one.State = "done"
		case i == at && j.Status == "failed":
			one.State = "failed"
		case i == at && j.Status == "running":
			one.State = "current"
		}
		all = append(all, one)
	}
	return all
}

// jobLive sends the live part after each of the job's events, once a second at most, until the job has ended. It begins
// with all events, so a lost connection loses none.
func (p *page) jobLive() error {
	id := p.r.PathValue("id")
	if err := p.mayFollow(); err != nil {
		return err
	}
	if _, err := p.by.Reader(p.r.Context()).Job(p.r.Context(), id); err != nil {
		return err
	}
	var events []store.JobEvent
	return p.by.Watch(p.w, p.r, id, 0, func(s *api.Stream, l *feed.Listener) error {
		for {
			more, err := s.Next(l)
			if err != nil && !errors.Is(err, feed.ErrReset) {
				return err
			}
			for _, e := range more {
				events = keep(events, e.JobEvent)
			}
			var ended bool
			text, err := p.part(func(ctx context.Context) ([]byte, error) {
				j, err := p.by.Reader(ctx).Job(ctx, id)
				if err != nil {
					return nil, err
				}
				ended = jobs.State(j.Status).Terminal()
				return p.fragment("job", "live", "jobs", p.liveOf(j, events))
			})
			if err != nil {
				return err
			}
			if !l.CaughtUp() {
				continue
			}
			s.Event("", "", text)
			if ended {
				s.Event("", "ended", []byte("{}"))
				return nil
			}
			if err := s.Pause(liveEvery); err != nil {
				return err
			}
		}
	})
}
