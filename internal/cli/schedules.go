package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/schedule"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (p *program) newSchedulesCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "schedules", Aliases: []string{"schedule"}, Short: "Submit tasks at the times of a calendar",
		Args: needsSubcommand, RunE: showHelp,
	}
	cmd.AddCommand(
		p.newSchedulesListCommand(), p.newSchedulesAddCommand(), p.newSchedulesPauseCommand(true),
		p.newSchedulesPauseCommand(false), p.newSchedulesRemoveCommand(),
	)
	return cmd
}

// listedSchedule is the JSON of a schedule.
type listedSchedule struct {
	store.Schedule
	Jitter   string      `json:"jitter,omitempty"`
	Upcoming []time.Time `json:"upcoming"` // five at most
}

func listed(s store.Schedule) listedSchedule {
	l := listedSchedule{Schedule: s, Upcoming: []time.Time{}}
	if s.Jitter > 0 {
		l.Jitter = s.Jitter.String()
	}
	if calendar, err := schedule.ParseCalendar(s.Cron, s.TimeZone); err == nil && !s.Paused {
		l.Upcoming = calendar.NextFirings(s.NextAt, 5)
	}
	return l
}

func (p *program) newSchedulesListCommand() *cobra.Command {
	var out format
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List schedules with their next and last firing",
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				found, err := t.Store.Schedules(ctx, "", 1000)
				if err != nil {
					return &failure{"list schedules", nextStore, err}
				}
				return p.printSchedules(out, found)
			})
		}),
	}
	addOutput(cmd, &out)
	addSettings(cmd, storeOnly)
	return cmd
}

func (p *program) printSchedules(out format, found []store.Schedule) error {
	if out == asJSON {
		all := make([]listedSchedule, 0, len(found))
		for _, s := range found {
			all = append(all, listed(s))
		}
		return printJSON(p.stdout, all)
	}
	items := make([]item, 0, len(found))
	for _, s := range found {
		var next, last string
		switch {
		case s.Paused && s.Problem != "":
			next = "can't fire"
		case s.Paused:
			next = "paused"
		default:
			next = formatIn(s.NextAt, s.TimeZone)
		}
		if s.LastJobID != "" {
			last = formatIn(s.LastAt, s.TimeZone) + " " + s.Status
		}
		note := s.Problem
		for _, n := range []struct {
			what string
			many int64
		}{{"skipped", s.Skipped}, {"missed", s.Missed}, {"to make up", int64(len(s.Owed))}} {
			if n.many > 0 {
				note = joinNonEmpty(note, strconv.FormatInt(n.many, 10)+" "+n.what)
			}
		}
		items = append(items, item{
			[]string{s.ID, s.Cron, s.TimeZone, next, strconv.FormatInt(s.Fired, 10), last}, note,
		})
	}
	if len(found) == 0 {
		fmt.Fprintln(p.stderr, p.addressed("There are no schedules; async-worker schedules add makes one."))
	}
	return listing(p.stdout, []string{"ID", "CRON", "ZONE", "NEXT", "FIRED", "LAST"}, items)
}

// newSchedule are the flags of schedules add.
type newSchedule struct {
	cron, zone, overlap, file, kind, payload string
	catchUp                                  int
	jitter                                   time.Duration
	paused                                   bool
}

func (p *program) newSchedulesAddCommand() *cobra.Command {
	var out format
	var n newSchedule
	cmd := &cobra.Command{
		Use: "add ID", Short: "Add a schedule",
		Long: `add makes a schedule: at each time of its calendar one job is submitted, however many workers run. The
calendar is a cron expression of five fields (minute, hour, day, month, weekday), or @hourly,
@daily, @weekly, @monthly, @yearly or @every 90m. A time that the clocks pass twice counts once, one that they leave
out comes after the gap.

The task is given by --type and --payload, or as a message without task_id in the file --task (-: standard input).`,
		Example: `  async-worker schedules add nightly --cron "30 2 * * *" --time-zone Europe/Berlin --type ingest \
      --payload '{"source_uri": "https://example.com/prices.pdf", "document_set": "prices"}'
  async-worker schedules add report --cron "0 6 * * 1-5" --task report.json --catch-up 1`,
		Args: oneArg("the ID of the schedule"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			if n.cron == "" {
				return badUsage(`give it, for example --cron "30 2 * * *" or --cron @daily; `+usageHint(cmd), "--cron is missing: "+
					"it says when the task is submitted")
			}
			text, err := n.task(p.stdin)
			if err != nil {
				return err
			}
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				s, err := t.Schedules().Plan(store.Schedule{
					ID: args[0], Cron: n.cron, TimeZone: n.zone, Task: text, Overlap: n.overlap, CatchUp: n.catchUp,
					Jitter: n.jitter, Paused: n.paused,
				}, time.Now())
				if err != nil {
					return badUsage("async-worker schedules add --help shows what is possible", "the schedule: %v", err)
				}
				if s, err = t.Store.AddSchedule(ctx, s); errors.Is(err, store.ErrScheduleExists) {
					return &failure{"add the schedule", "choose another ID, or remove the one that there is", err}
				}
				if err != nil {
					return &failure{"add the schedule", nextStore, err}
				}
				return p.printAddedSchedule(out, s)
			})
		}),
	}
	f := cmd.Flags()
	f.StringVar(&n.cron, "cron", "", "when: a cron expression, or @daily, @every 90m, …")
	f.StringVar(&n.zone, "time-zone", "UTC", "the time zone, such as Europe/Berlin")
	f.StringVar(&n.kind, "type", "", "the type of the task")
	f.StringVar(&n.payload, "payload", "", "the task's payload, as JSON")
	f.StringVar(&n.file, "task", "", "a file with the task's message, without task_id; -: standard input")
	f.StringVar(&n.overlap, "overlap", store.OverlapSkip, "while the last job is not over: skip the firing, or allow it")
	f.IntVar(&n.catchUp, "catch-up", 0, "how many missed firings are made up, 0 to 1000")
	f.DurationVar(&n.jitter, "jitter", 0, "delay each firing by up to this, at most 1h")
	f.BoolVar(&n.paused, "paused", false, "add it paused")
	_ = cmd.RegisterFlagCompletionFunc("overlap", cobra.FixedCompletions([]string{store.OverlapSkip, store.OverlapAllow},
		cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	addOutput(cmd, &out)
	addSettings(cmd, storeOnly)
	return cmd
}

// task is the message that the flags give.
func (n newSchedule) task(stdin io.Reader) (json.RawMessage, error) {
	const remedy = "give --type and --payload, or --task FILE"
	switch {
	case n.file != "" && (n.kind != "" || n.payload != ""):
		return nil, badUsage(remedy, "--task goes without --type and --payload")
	case n.file == "-":
		return io.ReadAll(io.LimitReader(stdin, 1<<20))
	case n.file != "":
		text, err := os.ReadFile(n.file)
		if err != nil {
			return nil, fileError("read", n.file, err)
		}
		return text, nil
	case n.kind == "":
		return nil, badUsage(remedy, "the schedule has no task")
	}
	payload, err := (&message{payload: n.payload}).payloadObject()
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"task_type": n.kind, "payload": payload})
}

func (p *program) printAddedSchedule(out format, s store.Schedule) error {
	if out == asJSON {
		return printJSON(p.stdout, listed(s))
	}
	fmt.Fprintln(p.stdout, "The next firings:")
	for _, at := range listed(s).Upcoming {
		fmt.Fprintln(p.stdout, formatIn(&at, s.TimeZone))
	}
	return nil
}

// formatIn is a time as the clocks of a zone show it, and which clocks: 2026-11-25 02:30:00 CET. nil: "".
func formatIn(t *time.Time, zone string) string {
	if t == nil {
		return ""
	}
	where, err := time.LoadLocation(zone)
	if err != nil {
		where = time.UTC
	}
	return t.In(where).Format("2006-01-02 15:04:05 MST")
}

func (p *program) newSchedulesPauseCommand(pause bool) *cobra.Command {
	use, short := "resume", "Let paused schedules fire again, from now on"
	if pause {
		use, short = "pause", "Keep schedules from firing"
	}
	cmd := &cobra.Command{
		Use: use + " ID...", Short: short, Args: someArgs("the ID of a schedule"),
		RunE: p.action(func(cmd *cobra.Command, ids []string) error {
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				for _, id := range ids {
					next, err := p.changeSchedule(ctx, t, id, store.ScheduleChange{ID: id, Paused: &pause})
					if err != nil {
						return err
					}
					done := id + " is paused"
					if !pause {
						done = id + " fires again, next at " + formatIn(next.NextAt, next.TimeZone)
					}
					fmt.Fprintln(p.stdout, printable(done))
				}
				return nil
			})
		}),
	}
	addSettings(cmd, storeOnly)
	return cmd
}

func (p *program) changeSchedule(
	ctx context.Context, t *app.Tenant, id string, c store.ScheduleChange,
) (store.Schedule, error) {
	was, err := t.Store.Schedule(ctx, id)
	if err != nil {
		return was, p.scheduleFailure("change", id, err)
	}
	if c, err = t.Schedules().Change(was, c, time.Now()); err != nil {
		return was, &failure{"change schedule " + strconv.Quote(id), "remove it, and add it as it should be", err}
	}
	now, err := t.Store.ChangeSchedule(ctx, c)
	if err != nil {
		return was, p.scheduleFailure("change", id, err)
	}
	return now, nil
}

func (p *program) scheduleFailure(doing, id string, err error) error {
	doing += " schedule " + strconv.Quote(id)
	if errors.Is(err, store.ErrNotFound) {
		return &failure{doing, p.nextUnknown("schedules list", "schedules"), &notFoundError{err}}
	}
	return &failure{doing, nextStore, err}
}

func (p *program) newSchedulesRemoveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "remove ID...", Aliases: []string{"rm"}, Short: "Remove schedules; their jobs stay",
		Args: someArgs("the ID of a schedule"),
		RunE: p.action(func(cmd *cobra.Command, ids []string) error {
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				for _, id := range ids {
					if err := t.Store.RemoveSchedule(ctx, id); err != nil {
						return p.scheduleFailure("remove", id, err)
					}
					fmt.Fprintln(p.stdout, printable(id+" is removed; its jobs stay"))
				}
				return nil
			})
		}),
	}
	addSettings(cmd, storeOnly)
	return cmd
}
