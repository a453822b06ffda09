package rpc

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// scheduleRow is a schedule as the functions give it.
type scheduleRow struct {
	store.Schedule
	Jitter millis `json:"jitter_ms"`
}

func (r scheduleRow) schedule() store.Schedule {
	r.Schedule.Jitter = time.Duration(r.Jitter)
	return r.Schedule
}

func schedulesOf(rows []scheduleRow) []store.Schedule {
	found := make([]store.Schedule, 0, len(rows))
	for _, r := range rows {
		found = append(found, r.schedule())
	}
	return found
}

func (c *client) AddSchedule(ctx context.Context, s store.Schedule) (store.Schedule, error) {
	row, err := call[scheduleRow](ctx, c, "aw_put_schedule", scheduleRow{s, millis(s.Jitter)})
	return row.schedule(), err
}

func (c *client) ChangeSchedule(ctx context.Context, change store.ScheduleChange) (store.Schedule, error) {
	var jitter *millis
	if change.Jitter != nil {
		jitter = new(millis(*change.Jitter))
	}
	row, err := call[scheduleRow](ctx, c, "aw_put_schedule", struct {
		store.ScheduleChange
		Jitter *millis `json:"jitter_ms,omitempty"`
		Change bool    `json:"change"`
	}{change, jitter, true})
	return row.schedule(), err
}

func (c *client) RemoveSchedule(ctx context.Context, id string) error {
	return c.run(ctx, "aw_remove_schedule", map[string]string{"id": id})
}

func (c *client) Schedule(ctx context.Context, id string) (store.Schedule, error) {
	rows, err := call[[]scheduleRow](ctx, c, "aw_schedules", map[string]any{"id": id, "limit": 1})
	if err == nil && len(rows) == 0 {
		err = fmt.Errorf("%w: there is no schedule %s", store.ErrNotFound, id)
	}
	if err != nil {
		return store.Schedule{}, err
	}
	return rows[0].schedule(), nil
}

func (c *client) Schedules(ctx context.Context, after string, limit int) ([]store.Schedule, error) {
	rows, err := call[[]scheduleRow](ctx, c, "aw_schedules", map[string]any{"after": after, "limit": limit})
	return schedulesOf(rows), err
}

func (c *client) DueSchedules(ctx context.Context, limit int) (store.DueSchedules, error) {
	answer, err := call[struct {
		store.DueSchedules
		Due  []scheduleRow `json:"due"`
		Next millis        `json:"next_ms"`
	}](ctx, c, "aw_due_schedules", map[string]int{"limit": limit})
	due := answer.DueSchedules
	due.Due, due.Next = schedulesOf(answer.Due), time.Duration(answer.Next)
	return due, err
}

func (c *client) FireSchedule(ctx context.Context, f store.Firing) (store.Fired, error) {
	return call[store.Fired](ctx, c, "aw_fire_schedule", struct {
		ID       string            `json:"id"`
		Seen     *time.Time        `json:"next_at"`
		SeenOwed []time.Time       `json:"seen_owed"`
		Updated  time.Time         `json:"updated_at"`
		Next     *time.Time        `json:"to_next_at"`
		Fires    *time.Time        `json:"to_fires_at"`
		Owed     []time.Time       `json:"owed"`
		Missed   int               `json:"missed"`
		At       time.Time         `json:"at"`
		Late     bool              `json:"late"`
		Job      *store.Submission `json:"job,omitempty"`
	}{f.Seen.ID, f.Seen.NextAt, f.Seen.Owed, f.Seen.UpdatedAt, f.NextAt, f.FiresAt, f.Owed, f.Missed, f.At, f.Late, f.Job})
}

func (c *client) StopSchedule(ctx context.Context, s store.Schedule, problem string) error {
	return c.run(ctx, "aw_stop_schedule", map[string]any{
		"id": s.ID, "updated_at": s.UpdatedAt, "problem": problem,
	})
}
