package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// ErrScheduleExists means that there is a schedule of this name.
var ErrScheduleExists = errors.New("there is a schedule of this name")

// Schedules are tasks that are submitted at the times of a calendar. The caller knows the calendars, the store decides
// who fires.
type Schedules interface {
	// AddSchedule adds a schedule. ErrScheduleExists.
	AddSchedule(ctx context.Context, s Schedule) (Schedule, error)
	// ChangeSchedule changes the members that are set. ErrNotFound.
	ChangeSchedule(ctx context.Context, c ScheduleChange) (Schedule, error)
	// RemoveSchedule removes a schedule, and none of its jobs. ErrNotFound.
	RemoveSchedule(ctx context.Context, id string) error
	// Schedule returns one. ErrNotFound.
	Schedule(ctx context.Context, id string) (Schedule, error)
	// Schedules lists those whose names are after a name, at most limit (1000), by name.
	Schedules(ctx context.Context, after string, limit int) ([]Schedule, error)
	// DueSchedules lists those to fire, or whose next firing is not worked out, at most limit.
	DueSchedules(ctx context.Context, limit int) (DueSchedules, error)
	// FireSchedule moves a schedule on, and records the job of its firing, unless another worker was first, somebody has
	// changed it, or the job's id is taken.
	FireSchedule(ctx context.Context, f Firing) (Fired, error)
	// StopSchedule pauses a schedule that can't fire as it is.
	StopSchedule(ctx context.Context, s Schedule, problem string) error
}

// What a schedule does when it is due and its last job is not over.
const (
	OverlapSkip  = "skip"  // nothing
	OverlapAllow = "allow" // it fires
)

// Schedule is a row of schedules.
type Schedule struct {
	ID        string          `json:"id"` // 1-64 of [A-Za-z0-9_-]
	Cron      string          `json:"cron"`
	TimeZone  string          `json:"time_zone"` // of the IANA database
	Task      json.RawMessage `json:"task"`      // a message without task_id
	Overlap   string          `json:"overlap"`   // OverlapSkip or OverlapAllow
	CatchUp   int             `json:"catch_up"`  // missed firings that are made up, at most: 0-1000
	Jitter    time.Duration   `json:"-"`         // each firing is delayed by up to this; at most an hour
	Paused    bool            `json:"paused"`
	NextAt    *time.Time      `json:"next_at"`  // by the calendar; nil: a worker is to work it out
	FiresAt   *time.Time      `json:"fires_at"` // NextAt and the jitter
	Owed      []time.Time     `json:"owed"`     // missed firings that are to be made up, the oldest first
	LastJobID string          `json:"last_job_id"`
	LastAt    *time.Time      `json:"last_at"`     // the time of the calendar of LastJobID
	Status    string          `json:"last_status"` // of LastJobID; empty: it is gone, or there was none
	Fired     int64           `json:"fired"`
	Skipped   int64           `json:"skipped"` // while the last job was not over
	Missed    int64           `json:"missed"`  // and not made up
	Problem   string          `json:"problem"` // why a worker has paused it
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
}

// ScheduleChange changes a schedule. nil members stay. With NextAt and FiresAt its calendar begins there, and nothing is
// owed. If the schedule was changed after Seen, they are of a calendar that may be another one by now: a worker works
// them out.
type ScheduleChange struct {
	ID       string          `json:"id"`
	Seen     time.Time       `json:"seen,omitzero"` // UpdatedAt of the schedule on which the change was decided; zero: any
	Cron     *string         `json:"cron,omitempty"`
	TimeZone *string         `json:"time_zone,omitempty"`
	Task     json.RawMessage `json:"task,omitempty"`
	Overlap  *string         `json:"overlap,omitempty"`
	CatchUp  *int            `json:"catch_up,omitempty"`
	Jitter   *time.Duration  `json:"-"`
	Paused   *bool           `json:"paused,omitempty"`
	NextAt   *time.Time      `json:"next_at,omitempty"`
	FiresAt  *time.Time      `json:"fires_at,omitempty"`
}

// DueSchedules is the answer to DueSchedules.
type DueSchedules struct {
	Now     time.Time     `json:"now"` // of the database
	Due     []Schedule    `json:"-"`
	Waiting bool          `json:"waiting"` // one owes a firing and waits for its last job
	Next    time.Duration `json:"-"`       // until the next one is due; zero: none is
}

// Firing moves a schedule on.
type Firing struct {
	Seen    Schedule    // as it was found
	NextAt  *time.Time  // the first firing that is not due yet; nil: there is none
	FiresAt *time.Time  // NextAt and the jitter
	Owed    []time.Time // what is to be made up after this
	Missed  int         // what is not made up
	At      time.Time   // the time of the calendar of Job
	Late    bool        // Job is made up: it waits for the last job, and is not skipped
	Job     *Submission // nil: none is due
}

// Fired is the answer to FireSchedule.
type Fired struct {
	Moved   bool `json:"moved"`   // false: nothing was changed
	Created bool `json:"created"` // the job is new: its message is to be sent
	Skipped bool `json:"skipped"` // the last job is not over
	Taken   bool `json:"taken"`   // Job's id is that of a job that is not of this firing; fire again, with another id
}
