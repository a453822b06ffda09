package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

const schedulesPerPage = 50

// scheduleList is what the page of schedules shows.
type scheduleList struct {
	Schedules []api.Schedule
	Next      string
	First     bool
}

func (p *page) schedules() error {
	ctx, cancel := p.ctx()
	defer cancel()
	after := p.r.URL.Query().Get("after")
	found, err := p.by.Schedules(ctx, after, schedulesPerPage)
	if err != nil {
		return err
	}
	list := scheduleList{Schedules: found.Items, First: after == ""}
	if found.NextCursor != "" {
		list.Next = "schedules" + query("after", found.NextCursor)
	}
	return p.show("schedules", "Schedules", "schedules", list)
}

// scheduleView is what the page of a schedule shows.
type scheduleView struct {
	api.Schedule

	Firings []firing // the last ones, the newest first
}

// firing is a time of the calendar, and the job that was submitted for it.
type firing struct {
	At  time.Time
	Job *store.Job // nil: there is none, or no longer
}

func (p *page) schedule() error {
	ctx, cancel := p.ctx()
	defer cancel()
	s, err := p.by.Schedule(ctx, p.r.PathValue("id"))
	if err != nil {
		return err
	}
	v := scheduleView{Schedule: s}
	for _, at := range api.LastFirings(s, 5) {
		f := firing{At: at.At}
		j, err := p.by.Reader(ctx).Job(ctx, at.JobID)
		switch {
		case err == nil:
			f.Job = &j
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		v.Firings = append(v.Firings, f)
	}
	return p.show("schedule", "Schedule "+s.ID, "schedules", v)
}

// scheduleChanges are what can be done to a schedule, by the name in its address.
var scheduleChanges = map[string]confirm{
	"pause": {
		Title: "Pause this schedule?", Button: "Pause it",
		Text: []string{"It does not fire until somebody resumes it. What it misses meanwhile is not made up. Jobs that it has submitted go on."},
	},
	"resume": {
		Title: "Resume this schedule?", Button: "Resume it",
		Text: []string{"It fires again from now on, first at the next time of its calendar."},
	},
	"remove": {
		Title: "Remove this schedule?", Button: "Remove it", Danger: true,
		Text: []string{"It does not fire again, and can't be brought back. Jobs that it has submitted stay, and go on."},
	},
}

func (p *page) confirmSchedule() error {
	c, ok := scheduleChanges[p.r.PathValue("action")]
	if !ok {
		return errNoPage
	}
	ctx, cancel := p.ctx()
	defer cancel()
	s, err := p.by.Schedule(ctx, p.r.PathValue("id"))
	if err != nil {
		return err
	}
	c.Facts = []fact{{"Schedule", s.ID}, {"Calendar", s.Cron + ", " + s.TimeZone}, {"Fired", number(s.Fired) + " times"}}
	c.Back = "schedules/" + s.ID
	c.Action = c.Back + "/" + p.r.PathValue("action")
	return p.show("confirm", c.Title, "schedules", c)
}

func (p *page) changeSchedule() error {
	id, ctx := p.r.PathValue("id"), p.r.Context()
	paused := false
	switch p.r.PathValue("action") {
	case "remove":
		if err := p.by.RemoveSchedule(ctx, id); err != nil {
			return err
		}
		return p.goTo("schedules", "unscheduled")
	case "pause":
		paused = true
	case "resume":
	default:
		return errNoPage
	}
	if _, err := p.by.ChangeSchedule(ctx, id, api.ScheduleChange{Paused: &paused}); err != nil {
		return err
	}
	return p.goTo("schedules/"+id, map[bool]string{true: "paused", false: "resumed"}[paused])
}

// scheduleForm is a schedule as somebody writes it, and what is wrong with it.
type scheduleForm struct {
	ID, Cron, TimeZone, Task, Overlap, CatchUp, Problem string

	Key string // the name of one without a name: the form's second sending adds no other
}

func (p *page) newSchedule() error {
	return p.show("newschedule", "Add a schedule", "schedules", scheduleForm{
		Key: uuid.NewString(), Cron: "30 6 * * 1-5", TimeZone: "UTC", Overlap: store.OverlapSkip, CatchUp: "0",
		Task: "{\n  \"task_type\": \"ingest\",\n  \"payload\": {\"prefix\": \"reports/\", \"document_set\": \"reports\"}\n}",
	})
}

func (p *page) addSchedule() error {
	f := func(name string) string { return strings.TrimSpace(p.r.PostFormValue(name)) }
	form := scheduleForm{f("id"), f("cron"), f("time_zone"), f("task"), f("overlap"), f("catch_up"), "", f("key")}
	if uuid.Validate(form.Key) != nil {
		form.Key = uuid.NewString()
	}
	s, err := p.addWritten(p.r.Context(), form)
	known, ok := errors.AsType[*api.Problem](err)
	if ok && known.Code == "SCHEDULE_EXISTS" && form.ID == "" {
		return p.goTo("schedules/"+form.Key, "before")
	}
	if err != nil {
		known = p.problem(err)
		form.Problem = known.Detail
		return p.send(known.Status, "newschedule", p.view("Add a schedule", "schedules", form))
	}
	return p.goTo("schedules/"+s.ID, "scheduled")
}

func (p *page) addWritten(ctx context.Context, f scheduleForm) (api.Schedule, error) {
	catchUp, err := strconv.Atoi(f.CatchUp)
	if err != nil || catchUp < 0 || catchUp > 1000 {
		return api.Schedule{}, &api.Problem{
			Status: http.StatusUnprocessableEntity, Detail: "The number of firings to make up is not one of 0 to 1000. Choose one.",
		}
	}
	return p.by.AddSchedule(ctx, api.NewSchedule{
		ID: cmp.Or(f.ID, f.Key), Cron: f.Cron, TimeZone: f.TimeZone, Task: api.Object(f.Task), Overlap: f.Overlap, CatchUp: catchUp,
	})
}
