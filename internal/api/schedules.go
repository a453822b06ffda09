package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/schedule"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// upcoming is how many of a schedule's next firings are shown.
const upcoming = 5

// Schedule is a task that is submitted at the times of a calendar.
type Schedule struct {
	ID         string      `json:"id"`
	Cron       string      `json:"cron"`
	TimeZone   string      `json:"timeZone"`
	Task       Object      `json:"task" doc:"A task message without task_id. Without the scope operate, of its webhook_url the host alone."`
	Overlap    string      `json:"overlap" enum:"skip,allow"`
	CatchUp    int         `json:"catchUp"`
	Jitter     float64     `json:"jitterSeconds"`
	Paused     bool        `json:"paused"`
	NextAt     *time.Time  `json:"nextAt,omitempty" doc:"By the calendar. Left out: a worker is about to work it out."`
	Upcoming   []time.Time `json:"upcoming" nullable:"false" doc:"The next firings, five at most."`
	LastJobID  string      `json:"lastJobId,omitempty"`
	LastAt     *time.Time  `json:"lastAt,omitempty"`
	LastStatus string      `json:"lastStatus,omitempty" doc:"Of lastJobId."`
	Fired      int64       `json:"fired"`
	Skipped    int64       `json:"skipped" doc:"Firings that were due while the last job was not over."`
	Missed     int64       `json:"missed" doc:"Firings that were missed and not made up."`
	Problem    string      `json:"problem,omitempty" doc:"Why a worker has paused it."`
	CreatedAt  time.Time   `json:"createdAt"`
	UpdatedAt  time.Time   `json:"updatedAt"`
}

// scheduleOf is a schedule as a caller may see it.
func scheduleOf(ctx context.Context, s store.Schedule) Schedule {
	if principalFrom(ctx).Scope < apitoken.Operate {
		s.Task = json.RawMessage(task.HideWebhook(string(s.Task)))
	}
	out := Schedule{
		ID: s.ID, Cron: s.Cron, TimeZone: s.TimeZone, Task: Object(s.Task), Overlap: s.Overlap, CatchUp: s.CatchUp,
		Jitter: s.Jitter.Seconds(), Paused: s.Paused, NextAt: utc(s.NextAt), Upcoming: []time.Time{}, LastJobID: s.LastJobID,
		LastAt: utc(s.LastAt), LastStatus: s.Status, Fired: s.Fired, Skipped: s.Skipped, Missed: s.Missed,
		Problem: s.Problem, CreatedAt: s.CreatedAt.UTC(), UpdatedAt: s.UpdatedAt.UTC(),
	}
	calendar, err := schedule.ParseCalendar(s.Cron, s.TimeZone)
	if err == nil && !s.Paused { // otherwise a worker says what is wrong with it
		out.Upcoming = calendar.NextFirings(s.NextAt, upcoming)
	}
	return out
}

// NewSchedule is a schedule to add.
type NewSchedule struct {
	ID       string  `json:"id,omitempty" pattern:"^[A-Za-z0-9_-]{1,64}$" doc:"Default: a new one."`
	Cron     string  `json:"cron" maxLength:"200" doc:"Five fields, or @hourly, @daily, @every 90m, …" example:"30 6 * * 1-5"`
	TimeZone string  `json:"timeZone,omitempty" maxLength:"64" doc:"Default: UTC." example:"Europe/Berlin"`
	Task     Object  `json:"task" doc:"A task message without task_id, or a job without id and runAt."`
	Overlap  string  `json:"overlap,omitempty" enum:"skip,allow" doc:"While the last job is not over. Default: skip."`
	CatchUp  int     `json:"catchUp,omitempty" minimum:"0" maximum:"1000" doc:"How many missed firings are made up."`
	Jitter   float64 `json:"jitterSeconds,omitempty" minimum:"0" maximum:"3600" doc:"Each firing is delayed by up to this."`
	Paused   bool    `json:"paused,omitempty"`
}

// ScheduleChange changes a schedule. What is left out stays.
type ScheduleChange struct {
	Cron     *string  `json:"cron,omitempty" maxLength:"200"`
	TimeZone *string  `json:"timeZone,omitempty" maxLength:"64"`
	Task     *Object  `json:"task,omitempty"`
	Overlap  *string  `json:"overlap,omitempty" enum:"skip,allow"`
	CatchUp  *int     `json:"catchUp,omitempty" minimum:"0" maximum:"1000"`
	Jitter   *float64 `json:"jitterSeconds,omitempty" minimum:"0" maximum:"3600"`
	Paused   *bool    `json:"paused,omitempty" doc:"What was missed while it was paused is not made up."`
}

// ScheduleInput names a schedule.
type ScheduleInput struct {
	ID string `path:"id" maxLength:"64" doc:"Of the schedule."`
}

type changeScheduleInput struct {
	ScheduleInput
	Body ScheduleChange
}

type addedSchedule struct {
	Location string `header:"Location"`
	Body     Schedule
}

func (a *API) registerSchedules() {
	register(a, call{
		method: http.MethodGet, path: "/v1/schedules", id: "list-schedules", tag: "schedules", scope: apitoken.Read,
		summary: "List schedules, by name",
	}, a.listSchedules)
	register(a, call{
		method: http.MethodGet, path: "/v1/schedules/{id}", id: "get-schedule", tag: "schedules", scope: apitoken.Read,
		summary: "Get a schedule",
	}, a.getSchedule)
	register(a, call{
		method: http.MethodPost, path: "/v1/schedules", id: "add-schedule", tag: "schedules", scope: apitoken.Operate,
		summary: "Add a schedule", status: http.StatusCreated,
	}, a.addSchedule)
	register(a, call{
		method: http.MethodPatch, path: "/v1/schedules/{id}", id: "change-schedule", tag: "schedules",
		scope: apitoken.Operate, summary: "Change a schedule, pause or resume it",
	}, a.changeSchedule)
	register(a, call{
		method: http.MethodDelete, path: "/v1/schedules/{id}", id: "remove-schedule", tag: "schedules",
		scope: apitoken.Operate, summary: "Remove a schedule; its jobs stay", status: http.StatusNoContent,
	}, a.removeSchedule)
}

func (a *API) listSchedules(ctx context.Context, in *ListInput) (*bodyOf[Page[Schedule]], error) {
	after, err := placeOf[string](in.Cursor)
	if err != nil {
		return nil, err
	}
	from := ""
	if after != nil {
		from = *after
	}
	found, err := a.deps.Store.Schedules(ctx, from, in.Limit+1)
	if err != nil {
		return nil, err
	}
	of := func(s store.Schedule) Schedule { return scheduleOf(ctx, s) }
	return body(page(found, in.Limit, of, func(s store.Schedule) string { return cursorOf(s.ID) })), nil
}

func (a *API) getSchedule(ctx context.Context, in *ScheduleInput) (*bodyOf[Schedule], error) {
	s, err := a.deps.Store.Schedule(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return body(scheduleOf(ctx, s)), nil
}

func (a *API) schedules(check func(task.Task) error) schedule.Checker {
	return schedule.Checker{ClientID: a.deps.ClientID, Check: check}
}

func (a *API) addSchedule(ctx context.Context, in *bodyOf[NewSchedule]) (*addedSchedule, error) {
	b := in.Body
	if b.ID == "" {
		b.ID = uuid.NewString()
	}
	s, err := a.schedules(a.checkScheduled).Plan(store.Schedule{
		ID: b.ID, Cron: b.Cron, TimeZone: b.TimeZone, Task: asMessage(b.Task), Overlap: b.Overlap, CatchUp: b.CatchUp,
		Jitter: seconds(b.Jitter), Paused: b.Paused,
	}, time.Now())
	if err != nil {
		return nil, invalid("body", err.Error())
	}
	if s, err = a.deps.Store.AddSchedule(ctx, s); err != nil {
		return nil, err
	}
	a.audit(ctx, "added a schedule", "schedule", s.ID)
	a.scheduled()
	return &addedSchedule{"/v1/schedules/" + s.ID, scheduleOf(ctx, s)}, nil
}

func (a *API) changeSchedule(ctx context.Context, in *changeScheduleInput) (*bodyOf[Schedule], error) {
	b := in.Body
	was, err := a.deps.Store.Schedule(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	c := store.ScheduleChange{
		ID: in.ID, Cron: b.Cron, TimeZone: b.TimeZone, Overlap: b.Overlap, CatchUp: b.CatchUp, Paused: b.Paused,
	}
	check := a.deps.Check // a task of before stays as it is
	if b.Task != nil {
		check = a.checkScheduled
		c.Task = asMessage(*b.Task)
	}
	if b.Jitter != nil {
		c.Jitter = new(seconds(*b.Jitter))
	}
	if c, err = a.schedules(check).Change(was, c, time.Now()); err != nil {
		return nil, invalid("body", err.Error())
	}
	s, err := a.deps.Store.ChangeSchedule(ctx, c)
	if err != nil {
		return nil, err
	}
	a.audit(ctx, "changed a schedule", "schedule", s.ID)
	a.scheduled()
	return body(scheduleOf(ctx, s)), nil
}

func (a *API) removeSchedule(ctx context.Context, in *ScheduleInput) (*struct{}, error) {
	if err := a.deps.Store.RemoveSchedule(ctx, in.ID); err != nil {
		return nil, err
	}
	a.audit(ctx, "removed a schedule", "schedule", in.ID)
	return nil, nil
}

// scheduled lets the worker of this process look at the schedules.
func (a *API) scheduled() {
	if a.deps.Scheduled != nil {
		a.deps.Scheduled()
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// asMessage is a task as a message has it. Those who write it as a job of the API are understood, too.
func asMessage(o Object) json.RawMessage {
	var fields, hints map[string]json.RawMessage
	if json.Unmarshal(o, &fields) != nil {
		return json.RawMessage(o)
	}
	hinted := json.Unmarshal(fields["hints"], &hints) == nil && hints != nil
	for ours, theirs := range apiFields {
		in := fields
		if hint, ok := strings.CutPrefix(ours, "hints."); ok {
			in, ours, theirs = hints, hint, strings.TrimPrefix(theirs, "hints.")
		}
		if v, ok := in[theirs]; ok && in[ours] == nil {
			in[ours] = v
			delete(in, theirs)
		}
	}
	if hinted {
		fields["hints"] = encode(hints)
	}
	return encode(fields)
}

// checkScheduled checks a new task of a schedule as strictly as that of a job: what a message may have, though it is
// ignored, is refused.
func (a *API) checkScheduled(t task.Task) error {
	if len(t.Ignored) > 0 {
		return fmt.Errorf("%s is not known, or has a value that can't be used", t.Ignored[0])
	}
	return a.check(t)
}
