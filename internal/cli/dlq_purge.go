package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

const purgeNeeds = config.Tenant | config.Queue | config.Store

// purgeMinAge protects a dead letter whose copy is not recorded as sent: its message may still be on the task queue,
// and would create the dead letter again.
const purgeMinAge = time.Hour

// purgeFlags are the flags of `dlq purge`.
type purgeFlags struct {
	selection
	out              format
	dry, yes, noCopy bool
}

// purgeReport is what `dlq purge -o json` prints.
type purgeReport struct {
	DryRun   bool           `json:"dry_run"`
	Selected int            `json:"selected"`
	Purged   []string       `json:"purged"` // in a dry run: would be
	Kept     []string       `json:"kept"`
	Copies   *replay.Copies `json:"copies,omitempty"` // on the dead-letter queue

	withCopy int // of Kept, because their copies may be on the queue
}

var errKept = errors.New("some dead letters were kept, because their copies may be on the queue; repeat the command, or " +
	"give --rows-only")

func (p *program) newDLQPurgeCommand() *cobra.Command {
	var g purgeFlags
	cmd := &cobra.Command{
		Use: "purge [ID...]", Short: "Remove dead letters for good",
		Long: `purge removes dead letters with their original messages, and their copies on the dead-letter queue if it
finds them. A removed dead letter can't be replayed; its job stays. purge asks for confirmation unless --yes. It
keeps dead letters of the last hour whose copy has not been sent yet: these are still being written. It also keeps
those whose copies may still be on the queue, because it could not look at all messages there; then it ends with 1,
or with the exit code of the queue's error.`,
		Example: `  async-worker dlq purge --older-than 90d --dry-run
  async-worker dlq purge --replayed yes --older-than 7d --yes`,
		RunE: p.action(func(cmd *cobra.Command, ids []string) error {
			if err := g.check(ids); err != nil {
				return err
			}
			f, err := g.filter(time.Now())
			if err != nil {
				return err
			}
			if !g.dry && !g.yes && !isTerminal(p.stdin) {
				return badUsage("check with --dry-run, then give --yes",
					"purging needs a confirmation, and standard input is not a terminal")
			}
			return p.withTenant(cmd, purgeNeeds, func(ctx context.Context, t *app.Tenant) error {
				letters, err := g.choose(ctx, t.Store, ids, f, p.nextUnknown("dlq list", "dead letters"))
				if err != nil {
					return err
				}
				return p.purge(ctx, t, g, letters)
			})
		}),
	}
	g.addBulkFlags(cmd)
	cmd.Flags().BoolVar(&g.dry, "dry-run", false, "show what would be removed, without removing it")
	cmd.Flags().BoolVar(&g.yes, "yes", false, "don't ask")
	cmd.Flags().BoolVar(&g.noCopy, "rows-only", false, "leave the copies on the dead-letter queue")
	addOutput(cmd, &g.out)
	addSettings(cmd, purgeNeeds)
	return cmd
}

func (p *program) purge(ctx context.Context, t *app.Tenant, g purgeFlags, letters []store.DeadLetter) error {
	report := purgeReport{DryRun: g.dry, Selected: len(letters), Purged: []string{}, Kept: []string{}}
	var ids []string
	for _, d := range letters {
		ids = append(ids, d.ID)
	}
	if g.dry {
		report.Purged = orEmpty(ids)
		if g.out == asJSON {
			return printJSON(p.stdout, report)
		}
		fmt.Fprintf(p.stderr, "%d would be removed\n", len(ids))
		return p.printDeadLetters(letters)
	}
	if len(ids) > 0 && !g.yes {
		what := fmt.Sprintf("%d dead letters of %s will be removed for good.", len(ids), t.Config.ClientID)
		if err := confirm(p.stdin, p.stderr, what, fmt.Sprintf("purge %d", len(ids)),
			"nothing was removed"); err != nil {
			return err
		}
	}
	stopped := p.purgeAll(ctx, t, g, ids, &report)
	if g.out == asJSON {
		if err := printJSON(p.stdout, report); err != nil {
			return err
		}
	} else {
		for _, id := range report.Purged {
			fmt.Fprintln(p.stdout, id)
		}
	}
	p.reportPurge(t, report)
	if stopped == nil && report.withCopy > 0 {
		return &reportedError{errKept}
	}
	return stopped
}

func (p *program) reportPurge(t *app.Tenant, r purgeReport) {
	fmt.Fprintf(p.stderr, "%d of %d removed", len(r.Purged), r.Selected)
	if n := len(r.Kept) - r.withCopy; n > 0 {
		fmt.Fprintf(p.stderr, ", %d kept (still being written, or removed by somebody else)", n)
	}
	fmt.Fprintln(p.stderr)
	if r.withCopy > 0 {
		printWrapped(p.stderr, "", fmt.Sprintf("%d kept: their copies may be on the queue %s, which was not searched to its end; "+
			"repeat the command in some minutes, or give --rows-only to leave the copies there for good",
			r.withCopy, printable(t.Queues.DeadLetter.Name())))
	}
}

// purgeAll removes dead letters in batches. Copies go first, and a row whose copy may be on the queue stays: a row without
// a copy can be purged again, but no command would find a copy without a row.
func (p *program) purgeAll(ctx context.Context, t *app.Tenant, g purgeFlags, ids []string, report *purgeReport) error {
	rows, rowsCtx := ids, ctx
	var unsearched error
	if !g.noCopy && len(ids) > 0 {
		rows, unsearched = p.purgeCopies(ctx, t, ids, report)
		rowsCtx = context.WithoutCancel(ctx) // an interruption comes too late for rows whose copies are gone
	}
	for batch := range slices.Chunk(rows, store.MaxPurge) {
		if err := rowsCtx.Err(); err != nil {
			return &failure{"purge", nextStore, err}
		}
		bounded, done := context.WithTimeout(rowsCtx, replayTimeout)
		gone, err := t.Store.Purge(bounded, batch, purgeMinAge)
		done()
		if err != nil {
			return &failure{"purge", nextStore, err}
		}
		report.Purged = append(report.Purged, gone...)
		for _, id := range batch {
			if !slices.Contains(gone, id) {
				report.Kept = append(report.Kept, id)
			}
		}
	}
	return unsearched
}

// purgeCopies removes the copies of dead letters, and returns those whose rows can go too.
func (p *program) purgeCopies(ctx context.Context, t *app.Tenant, ids []string, report *purgeReport) ([]string, error) {
	q := t.Queues.DeadLetter
	copies, err := replay.RemoveAllCopies(ctx, q, ids, func(looked int) {
		fmt.Fprintf(p.stderr, "looked at %d messages of the queue %s, and go on\n", looked, printable(q.Name()))
	})
	report.Copies = &copies
	if err != nil {
		err = &failure{"purge", nextService(t, err), err}
	}
	if copies.Complete {
		if copies.Left > 0 {
			fmt.Fprintf(p.stderr, "%d of %d copies are not on the queue %s: they were removed before, or never sent\n",
				copies.Left, len(ids), printable(q.Name()))
		}
		return ids, err
	}
	kept := make(map[string]bool, copies.Left)
	for _, id := range copies.Letters {
		kept[id] = true
	}
	report.Kept, report.withCopy = append(report.Kept, copies.Letters...), copies.Left
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return kept[id] }), err
}

// confirm shows what will be done and wants the words in want typed. Otherwise its error says undone.
func confirm(in io.Reader, out io.Writer, what, want, undone string) error {
	fmt.Fprintf(out, "%s To go on, type %q: ", what, want)
	line, err := bufio.NewReader(io.LimitReader(in, 1024)).ReadString('\n')
	if err != nil && err != io.EOF {
		return fmt.Errorf("read the answer: %w", err)
	}
	if strings.TrimSpace(line) != want {
		return badUsage("repeat the command and type "+want+" to go on", "%s: the answer was not %q", undone, want)
	}
	return nil
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
