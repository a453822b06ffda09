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

// replayNeeds includes Blob for claim checks.
const replayNeeds = config.Tenant | config.Queue | config.Store | config.Blob

// replayTimeout bounds a started replay, which finishes despite an interruption.
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
	Replayed []replay.Outcome `json:"replayed"` // in a dry run: would be
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
		Use: "replay [ID...]", Short: "Repeat the tasks of dead letters, each as a new job",
		Long: `replay repeats the tasks of dead letters, the oldest first. Each becomes a new job: its id is the first
job's id with .r and a number (4b1c.r1), its parent_job_id is the failed job, its webhook goes to the same
address. The dead letter records when, by whom and as which job it was replayed. It is replayed again only with
--again.

A message that never became a job can't be replayed unchanged: fix it and give it with --message. A message of
another client is never replayed. The copies on the dead-letter queue are removed if they are found.`,
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
			var drafts []submission
			if r.message != "" {
				if drafts, err = (&message{}).drafts([]string{r.message}, p.stdin); err != nil {
					return err
				}
			}
			return p.withTenant(cmd, replayNeeds, func(ctx context.Context, t *app.Tenant) error {
				fixed, err := submissions(drafts, t.Config.ClientID)
				if err != nil {
					return err
				}
				if len(fixed) > 0 {
					r.options.Message = &fixed[0].task
				}
				letters, err := r.choose(ctx, t.Store, ids, f, p.nextUnknown("dlq list", "dead letters"))
				if err != nil {
					return err
				}
				return p.replayAll(ctx, t, r, letters)
			})
		}),
	}
	r.addBulkFlags(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&r.options.DryRun, "dry-run", false, "show what would be done, without doing it")
	flags.BoolVar(&r.options.Again, "again", false, "replay dead letters that were replayed before, too: each becomes one more job")
	flags.BoolVar(&r.options.Force, "force", false,
		"set the hint force in the messages: repeat finished tasks")
	flags.StringVar(&r.message, "message", "",
		"a FILE with a fixed message that replaces the original (-: standard input); for one ID")
	flags.Var(&r.rate, "rate", "the maximum rate, e.g. 10/s, 30/m or 500/h")
	flags.BoolVar(&r.rowsOnly, "rows-only", false, "leave the copies on the dead-letter queue")
	addOutput(cmd, &r.out)
	addSettings(cmd, replayNeeds)
	return cmd
}

func (r *replayFlags) check(ids []string) error {
	if r.message != "" && len(ids) != 1 {
		return badUsage("give the ID of the dead letter that the message replaces",
			"--message takes one ID, got %d", len(ids))
	}
	return r.selection.check(ids)
}

// replayAll replays one after the other. It reports and skips refused ones; any other error, and an interruption
// between two, ends it.
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

// add records the outcome of one replay. It returns an error that ends all replays.
func (r *replayReport) add(id string, o replay.Outcome, err error) error {
	if o.JobID != "" { // recorded, even if not sent
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

var errNotAll = errors.New("some dead letters were not replayed")

// reportReplays prints the counts, and returns why it stopped.
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
		return &failure{"replay", "fix this and repeat the command: what was replayed is not replayed again", stopped}
	case len(r.Refused) > 0 && r.Selected == 1:
		printWrapped(p.stderr, "  what to do: ", p.addressed(r.Refused[0].Next))
		return &reportedError{errNotAll}
	case len(r.Refused) > 0:
		return &reportedError{errNotAll}
	}
	return nil
}

// removeCopies removes copies from the dead-letter queue. It only reports failures: the rows are authoritative.
func (p *program) removeCopies(ctx context.Context, t *app.Tenant, ids []string) *replay.Copies {
	copies, err := replay.RemoveCopies(ctx, t.Queues.DeadLetter, ids)
	if err != nil {
		fmt.Fprintf(p.stderr, "the queue %s could not be searched completely: %v\n", t.Queues.DeadLetter.Name(), err)
	}
	if copies.Left > 0 {
		fmt.Fprintf(p.stderr, "%d of %d copies were not found on the queue %s: they were removed before, or stay on it\n",
			copies.Left, len(ids), t.Queues.DeadLetter.Name())
	}
	return &copies
}

// rateFlag is a rate, such as 10/s.
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
		return badUsage("write it like 10/s, 30/m or 500/h", "%q is not a rate", text)
	}
	r.perSecond, r.text = n/seconds, text
	return nil
}
