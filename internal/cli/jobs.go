package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// eventColumn is how wide the message of an event may be beside its stage; a longer one is printed below.
const eventColumn = 56

// storeOnly is what a command needs to read or write rows.
const storeOnly = config.Tenant | config.Store

func (p *program) newJobsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "jobs", Short: "Show, follow, cancel and retry jobs", Args: needsSubcommand, RunE: showHelp,
	}
	cmd.AddCommand(p.newJobsListCommand(), p.newJobsGetCommand(), p.newJobsWatchCommand(), p.newJobsCancelCommand(),
		p.newJobsRetryCommand())
	return cmd
}

// jobHistory is the JSON of jobs get: the row, its events and its deliveries.
type jobHistory struct {
	store.Job
	Events     []store.JobEvent       `json:"events"`
	Deliveries []store.DeliveryStatus `json:"webhook_deliveries"`
}

func (p *program) newJobsGetCommand() *cobra.Command {
	var out format
	cmd := &cobra.Command{
		Use: "get ID", SuggestFor: []string{"show", "describe"}, Short: "Show a job with its events and webhooks",
		Args: oneArg("the ID of a job"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				history, err := readHistory(ctx, t.Store, args[0])
				if err != nil {
					return &failure{"get job " + strconv.Quote(args[0]), nextStore, err}
				}
				if out == asJSON {
					return printJSON(p.stdout, history)
				}
				return printHistory(p.stdout, history)
			})
		}),
	}
	addOutput(cmd, &out)
	addSettings(cmd, storeOnly)
	return cmd
}

func readHistory(ctx context.Context, r store.Reader, id string) (jobHistory, error) {
	const page = 500
	j, err := r.Job(ctx, id)
	if err != nil {
		return jobHistory{}, err
	}
	history := jobHistory{Job: j, Events: []store.JobEvent{}}
	for after, more := int64(0), true; more; {
		events, err := r.Events(ctx, id, after, page)
		if err != nil {
			return history, err
		}
		history.Events = append(history.Events, events...)
		if more = len(events) == page; more {
			after = events[len(events)-1].Seq
		}
	}
	deliveries, err := r.JobDeliveries(ctx, id)
	history.Deliveries = orEmpty(deliveries)
	return history, err
}

// printFields prints names and values, wrapped to the line.
func printFields(w io.Writer, fields [][2]string) {
	widest := 0
	for _, f := range fields {
		widest = max(widest, len(f[0]))
	}
	for _, f := range fields {
		printWrapped(w, fmt.Sprintf("%-*s  ", widest, f[0]), printable(f[1]))
	}
}

func printHistory(w io.Writer, s jobHistory) error {
	var fields [][2]string
	for _, f := range [][2]string{
		{"id", s.ID},
		{"client", s.ClientID},
		{"type", s.Type},
		{"status", s.Status},
		{"stage", s.Stage},
		{"progress", strconv.Itoa(s.Progress) + "%"},
		{"attempts", fmt.Sprintf("%d of %d", s.Attempts, s.MaxAttempts)},
		{"priority", s.Priority},
		{"requested by", s.RequestedBy},
		{"parent", s.ParentJobID},
		{"replay", map[bool]string{true: strconv.Itoa(s.Replay)}[s.Replay > 0]},
		{"cancel asked", map[bool]string{true: "yes"}[s.CancelAsked]},
		{"created", formatTime(s.CreatedAt)},
		{"started", formatTimePtr(s.StartedAt)},
		{"completed", formatTimePtr(s.CompletedAt)},
		{"error", strings.TrimSpace(s.ErrorCode + " " + s.ErrorMessage)},
		{"error type", s.ErrorType},
		{"took", formatMillis(s.ProcessingMS)},
		{"worker", s.WorkerID},
		{"payload", compactJSON(s.Payload)},
		{"hints", compactJSON(s.Hints)},
		{"warnings", strings.Join(warnings(s.Job), "; ")},
		{"result", shortResult(s.Job)},
	} {
		if f[1] != "" {
			fields = append(fields, f)
		}
	}
	printFields(w, fields)
	if err := printResult(w, s.Job); err != nil {
		return err
	}
	if len(s.Events) > 0 {
		var items []item
		for _, e := range s.Events {
			text, note := eventText(e), ""
			if _, piece := e.Delta(); !piece && runewidth.StringWidth(printable(text)) > eventColumn {
				text, note = "", text // it may end with what to do
			}
			items = append(items, item{[]string{
				strconv.FormatInt(e.Seq, 10), formatTime(e.At), strconv.Itoa(e.Attempt), strconv.Itoa(e.Progress) + "%",
				e.Stage, text,
			}, note})
		}
		fmt.Fprintln(w)
		if err := listing(w, []string{"EVENT", "AT", "TRY", "DONE", "STAGE", "MESSAGE"}, items); err != nil {
			return err
		}
	}
	if len(s.Deliveries) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return listing(w, []string{"WEBHOOK", "STATUS", "TRIES", "ANSWER", "NEXT", "DELIVERED"}, deliveryItems(s.Deliveries))
}

func deliveryItems(ds []store.DeliveryStatus) []item {
	var items []item
	for _, d := range ds {
		answer, trouble, next := "", "", ""
		if d.ResponseStatus != nil {
			answer = strconv.Itoa(*d.ResponseStatus)
		}
		if d.LastError != nil {
			trouble = *d.LastError
		}
		if d.Status == store.DeliveryPending {
			next = formatTimePtr(d.NextAttemptAt)
		}
		items = append(items, item{
			[]string{d.ID, d.Status, strconv.Itoa(d.Attempts), answer, next, formatTimePtr(d.DeliveredAt)},
			joinNonEmpty(shorten(d.URL, 100), trouble, beforeResend(d.Earlier)),
		})
	}
	return items
}

// formatMillis formats a duration in milliseconds; nil: unknown.
func formatMillis(ms *int64) string {
	if ms == nil {
		return ""
	}
	return (time.Duration(*ms) * time.Millisecond).String()
}

// compactJSON is trimmed JSON, or "" for an empty value.
func compactJSON(raw json.RawMessage) string {
	text := strings.TrimSpace(string(raw))
	if text == "" || text == "null" || text == "{}" {
		return ""
	}
	return text
}

func (p *program) newJobsWatchCommand() *cobra.Command {
	var out format
	cmd := &cobra.Command{
		Use: "watch ID...", Short: "Follow jobs until they finish",
		Long: `watch shows the progress of jobs until all have finished: bars on a terminal, otherwise a line for each
event, and JSON lines with -o json. It exits with 0 when all succeeded, else with 1.`,
		Args: someArgs("the ID of a job"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				return newFollower(t.Store, t.NewFeed()).all(ctx, args, p.newDisplay(out))
			})
		}),
	}
	addOutput(cmd, &out)
	addSettings(cmd, storeOnly)
	return cmd
}

func (p *program) newJobsCancelCommand() *cobra.Command {
	var out format
	var inAdvance bool
	cmd := &cobra.Command{
		Use: "cancel ID...", Short: "Cancel jobs: pending ones at once, running ones at the next safe point",
		Long: `cancel cancels pending jobs at once. A running job stops at its next safe point and commits nothing. An
unknown id is an error; with --in-advance it is recorded, and its message is dropped when it comes.`,
		Args: someArgs("the ID of a job"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			if i := slices.IndexFunc(args, func(id string) bool { return !task.ValidID(id) }); inAdvance && i >= 0 {
				return badUsage("give the task_id of its message", "%q can't be an id: ids are 1 to 128 of A-Z, a-z, 0-9 and . _ : -",
					args[i])
			}
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				var jobs []store.Job
				var refused []error
				noted := map[string]bool{}
				for _, id := range args {
					j, unknown, err := cancel(ctx, t.Store, id, inAdvance)
					switch {
					case err == nil:
						jobs = append(jobs, j)
						noted[id] = unknown
						continue
					// go on with the others
					case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrTerminal):
						refused = append(refused, &failure{"cancel job " + strconv.Quote(id), nextStore, err})
						continue
					}
					return errors.Join(p.printCanceled(out, jobs, noted), errors.Join(refused...),
						&failure{"cancel job " + strconv.Quote(id), nextStore, err})
				}
				return errors.Join(p.printCanceled(out, jobs, noted), errors.Join(refused...))
			})
		}),
	}
	cmd.Flags().BoolVar(&inAdvance, "in-advance", false, "also cancel a job that is not known yet")
	addOutput(cmd, &out)
	addSettings(cmd, storeOnly)
	return cmd
}

// cancel cancels one job, and reports whether it was unknown.
func cancel(ctx context.Context, s store.Store, id string, inAdvance bool) (j store.Job, unknown bool, err error) {
	_, err = s.Job(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound) && !inAdvance:
		return j, true, fmt.Errorf("%w (with --in-advance it is canceled before its message comes)", err)
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return j, false, err
	}
	unknown = err != nil
	j, err = s.RequestCancel(ctx, id, whoami())
	return j, unknown, err
}

// printCanceled prints canceled jobs; noted are the unknown ids.
func (p *program) printCanceled(out format, jobs []store.Job, noted map[string]bool) error {
	if out == asJSON {
		return printJSON(p.stdout, orEmpty(jobs))
	}
	for _, j := range jobs {
		text := "is canceled"
		if noted[j.ID] {
			text = "is not known yet; its message will be dropped"
		} else if job.State(j.Status) != job.Canceled {
			text = "is " + j.Status + " and will stop; follow it with: async-worker jobs watch " + j.ID
		}
		fmt.Fprintln(p.stdout, p.addressed(printable(j.ID+" "+text)))
	}
	return nil
}

// whoami is the operator, for the audit.
func whoami() string {
	u, err := user.Current()
	if err != nil {
		return "command line"
	}
	return "command line: " + u.Username
}
