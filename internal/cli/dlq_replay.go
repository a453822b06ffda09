package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/time/rate"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// replayNeeds: the blob is for messages that are claim checks.
const replayNeeds = config.Tenant | config.Queue | config.Store | config.Blob

// replayTimeout bounds what is finished although somebody interrupts: a replay that has begun.
const replayTimeout = time.Minute

// replayFlags are the flags of `dlq replay`.
type replayFlags struct {
	selection
	out      format
	rate     rateFlag
	message  string
	options  replay.Options
	rowsOnly bool
}

// replayReport is what `dlq replay -o json` prints.
type replayReport struct {
	DryRun   bool             `json:"dry_run"`
	Selected int              `json:"selected"`
	Replayed []replay.Outcome `json:"replayed"` // or would be, in a dry run
	Refused  []refusal        `json:"refused"`
	Copies   *replay.Copies   `json:"copies,omitempty"` // on the dead-letter queue
}

type refusal struct {
	DeadLetterID string `json:"dead_letter_id"`
	Why          string `json:"why"`
	Next         string `json:"next"`
}

func (p *program) newDLQReplayCommand() *cobra.Command {
	r := replayFlags{rate: rateFlag{10, "10/s"}}
	cmd := &cobra.Command{
		Use: "replay [ID...]", Short: "Do the tasks of dead letters again, each as a new job",
		Long: `replay does the tasks of dead letters again, the oldest first. Each becomes a new job: its id is that of the
first job with .r and a number (4b1c.r1), its parent_job_id is the job that failed, its webhook goes where that
one's went. The dead letter notes when, by whom and as which job it was replayed; it is not replayed twice
unless --again.

A message that never became a job can't be replayed as it is: mend it and give it with --message. One that names
another client is never replayed. The copies on the dead-letter queue are removed as far as they are found.`,
		Example: `  async-worker dlq replay 0f9a3a52-6a0e-4f0c-9a59-0f7f3f4a8a11
  async-worker dlq replay --type ingest --class dependency_unavailable --newer-than 24h --dry-run
  async-worker dlq replay --reason exhausted --rate 2/s
  async-worker dlq replay 0f9a3a52-6a0e-4f0c-9a59-0f7f3f4a8a11 --message mended.json`,
		RunE: p.action(func(cmd *cobra.Command, ids []string) error {
			if err := r.check(ids); err != nil {
				return err
			}
			f, err := r.filter(time.Now())
			if err != nil {
				return err
			}
			if len(ids) == 0 && r.replayed == "" && !r.options.Again {
				f.Replayed = "no"
			}
			r.options.By = whoami()
			return p.withTenant(cmd, replayNeeds, func(ctx context.Context, t *app.Tenant) error {
				if r.message != "" {
					m, err := readMessage(r.message, p.stdin, t.Config.ClientID)
					if err != nil {
						return err
					}
					r.options.Message = &m
				}
				letters, err := r.choose(ctx, t.Store, ids, f)
				if err != nil {
					return err
				}
				return p.replayAll(ctx, t, r, letters)
			})
		}),
	}
	r.addBulkFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&r.options.DryRun, "dry-run", false, "say what would be done, and change nothing")
	flags.BoolVar(&r.options.Again, "again", false, "also what was replayed already")
	flags.BoolVar(&r.options.Force, "force", false,
		"set the hint force in the messages: do it again although it is done")
	flags.StringVar(&r.message, "message", "",
		"a FILE with the mended message, instead of the original one (- is the standard input); for one ID")
	flags.Var(&r.rate, "rate", "how many at most in a time, e.g. 10/s, 30/m or 500/h")
	flags.BoolVar(&r.rowsOnly, "rows-only", false, "leave the copies on the dead-letter queue")
	addOutput(cmd, &r.out)
	addSettings(cmd, replayNeeds)
	return cmd
}

func (r *replayFlags) check(ids []string) error {
	if r.message != "" && len(ids) != 1 {
		return badUsage("give the ID of the dead letter that the message is for",
			"--message goes with one ID, not with %d", len(ids))
	}
	return r.selection.check(ids)
}

// replayAll replays one after the other. A refused one is told and passed over; anything else that goes
// wrong, and an interruption, ends it between two.
func (p *program) replayAll(ctx context.Context, t *app.Tenant, r replayFlags, letters []store.DeadLetter) error {
	report := replayReport{
		DryRun: r.options.DryRun, Selected: len(letters), Replayed: []replay.Outcome{}, Refused: []refusal{},
	}
	limiter := rate.NewLimiter(rate.Limit(r.rate.perSecond), 1)
	var stopped error
	for i, d := range letters {
		if stopped = ctx.Err(); stopped == nil && !r.options.DryRun {
			stopped = limiter.Wait(ctx)
		}
		if stopped != nil {
			break
		}
		bounded, done := context.WithTimeout(context.WithoutCancel(ctx), replayTimeout)
		o, err := t.Replayer().Replay(bounded, d.ID, r.options)
		done()
		stopped = report.add(d.ID, o, err)
		if r.out != asJSON {
			fmt.Fprintln(p.stdout, printable(fmt.Sprintf("[%d/%d] %s", i+1, len(letters), report.line(d.ID, o, err))))
		}
		if stopped != nil {
			break
		}
	}
	if ctx.Err() == nil && !r.options.DryRun && !r.rowsOnly && len(report.Replayed) > 0 {
		report.Copies = p.removeCopies(ctx, t, report.ids())
	}
	return p.reportReplays(r.out, report, stopped)
}

// add notes how one replay went, and returns the error that ends all of it.
func (r *replayReport) add(id string, o replay.Outcome, err error) error {
	if o.JobID != "" { // recorded, if not sent
		r.Replayed = append(r.Replayed, o)
		return err
	}
	_, unfit := errors.AsType[*replay.Refusal](err)
	_, invalid := errors.AsType[*task.Invalid](err)
	if unfit || invalid || errors.Is(err, store.ErrReplayed) || errors.Is(err, store.ErrNotFound) {
		r.Refused = append(r.Refused, refusal{id, err.Error(), verdictOf(err).next})
		return nil
	}
	return err
}

func (r *replayReport) line(id string, o replay.Outcome, err error) string {
	switch {
	case o.JobID == "" && err != nil:
		return id + " is not replayed: " + err.Error()
	case r.DryRun:
		return id + " would be replayed as " + o.JobID
	default:
		return id + " is replayed as " + o.JobID
	}
}

func (r *replayReport) ids() []string {
	var ids []string
	for _, o := range r.Replayed {
		ids = append(ids, o.DeadLetterID)
	}
	return ids
}

var errNotAll = errors.New("not all of it was done")

// reportReplays says how far it came, and why no further.
func (p *program) reportReplays(out format, r replayReport, stopped error) error {
	if out == asJSON {
		if err := printJSON(p.stdout, r); err != nil {
			return err
		}
	}
	verb := "replayed"
	if r.DryRun {
		verb = "would be replayed"
	}
	fmt.Fprintf(p.stderr, "%d of %d %s", len(r.Replayed), r.Selected, verb)
	if n := len(r.Refused); n > 0 {
		fmt.Fprintf(p.stderr, ", %d refused", n)
	}
	if n := r.Selected - len(r.Replayed) - len(r.Refused); n > 0 {
		fmt.Fprintf(p.stderr, ", %d not reached", n)
	}
	fmt.Fprintln(p.stderr)
	switch {
	case stopped != nil:
		return &failure{"replay", "mend this, and repeat the command: what was replayed is not replayed again", stopped}
	case len(r.Refused) > 0 && r.Selected == 1:
		fmt.Fprintf(p.stderr, "  what to do: %s\n", r.Refused[0].Next)
		return &reportedError{errNotAll}
	case len(r.Refused) > 0:
		return &reportedError{errNotAll}
	}
	return nil
}

// removeCopies takes copies off the dead-letter queue. That it can't is told and no failure: the rows are
// what counts.
func (p *program) removeCopies(ctx context.Context, t *app.Tenant, ids []string) *replay.Copies {
	copies, err := replay.RemoveCopies(ctx, t.Queues.DeadLetter, ids)
	if err != nil {
		fmt.Fprintf(p.stderr, "the queue %s could not be searched to its end: %v\n", t.Queues.DeadLetter.Name(), err)
	}
	if copies.Left > 0 {
		fmt.Fprintf(p.stderr, "%d copies were left behind or are not on the queue %s (%d removed, %d messages "+
			"looked at)\n",
			copies.Left, t.Queues.DeadLetter.Name(), copies.Removed, copies.Looked)
	}
	return &copies
}

// rateFlag is a flag: so many in a time.
type rateFlag struct {
	perSecond float64
	text      string
}

func (r *rateFlag) String() string { return r.text }
func (*rateFlag) Type() string     { return "rate" }

func (r *rateFlag) Set(text string) error {
	number, unit, ok := strings.Cut(text, "/")
	seconds := map[string]float64{"s": 1, "m": 60, "h": 3600}[unit]
	n, err := strconv.ParseFloat(number, 64)
	if !ok {
		seconds = 1
	}
	if err != nil || seconds == 0 || !(n > 0 && n <= 1e6) {
		return badUsage("write it like 10/s, 30/m or 500/h", "%q is no rate", text)
	}
	r.perSecond, r.text = n/seconds, text
	return nil
}
