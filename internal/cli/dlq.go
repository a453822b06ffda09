package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (p *program) newDLQCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "dlq", Short: "Show, replay and purge dead letters: tasks that could not be done", Args: needsSubcommand,
		RunE: showHelp,
	}
	cmd.AddCommand(p.newDLQListCommand(), p.newDLQShowCommand(), p.newDLQReplayCommand(), p.newDLQPurgeCommand())
	return cmd
}

func (p *program) newDLQListCommand() *cobra.Command {
	var out format
	var sel selection
	var limit int
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List dead letters, the newest first",
		Example: `  async-worker dlq list --class validation_error
  async-worker dlq list --reason exhausted --replayed no --newer-than 24h
  async-worker dlq list --job 4b1c -o json`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			f, err := sel.filter(time.Now())
			if err != nil {
				return err
			}
			if err := checkLimit(limit, 1000); err != nil {
				return err
			}
			f.Limit = limit
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				return p.listDeadLetters(ctx, out, t.Store, f)
			})
		}),
	}
	addOutput(cmd, &out)
	sel.addFlags(cmd)
	cmd.Flags().IntVarP(&limit, "limit", "n", 50, "the maximum number, 1 to 1000")
	addSettings(cmd, storeOnly)
	return cmd
}

// listDeadLetters prints dead letters. As JSON, which has their messages, it prints each before it reads the next page.
func (p *program) listDeadLetters(ctx context.Context, out format, r store.Reader, f store.DeadLetterFilter) error {
	f.Brief = out != asJSON
	var letters []store.DeadLetter
	list := jsonList{w: p.stdout}
	for d, err := range store.WalkDeadLetters(ctx, r, f) {
		if err != nil {
			return &failure{"list dead letters", nextStore, err}
		}
		if out != asJSON {
			letters = append(letters, d)
		} else if err := list.add(d); err != nil {
			return err
		}
	}
	if out == asJSON {
		return list.end()
	}
	return p.printDeadLetters(letters)
}

func (p *program) printDeadLetters(letters []store.DeadLetter) error {
	items := make([]item, 0, len(letters))
	for _, d := range letters {
		replayed := ""
		if d.ReplayedAs != "" {
			replayed = "replayed as " + d.ReplayedAs
		}
		items = append(items, item{
			[]string{d.ID, d.TaskType, strconv.Itoa(d.Attempts), formatTime(d.CreatedAt), d.JobID},
			joinNonEmpty(replayed, d.Reason+", "+d.ErrorClass+": "+d.ErrorMessage),
		})
	}
	return listing(p.stdout, []string{"ID", "TYPE", "TRIES", "AT", "JOB"}, items)
}

func (p *program) newDLQShowCommand() *cobra.Command {
	var out format
	cmd := &cobra.Command{
		Use: "show ID", SuggestFor: []string{"get", "describe"}, Short: "Show a dead letter with the original message", Args: oneArg("the ID of a dead letter"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				d, err := t.Store.DeadLetter(ctx, args[0])
				if errors.Is(err, store.ErrNotFound) {
					return &failure{
						"show dead letter " + strconv.Quote(args[0]), p.nextUnknown("dlq list", "dead letters"),
						&notFoundError{err},
					}
				}
				if err != nil {
					return &failure{"show dead letter " + strconv.Quote(args[0]), nextStore, err}
				}
				if out == asJSON {
					return printJSON(p.stdout, d)
				}
				return p.printDeadLetter(d)
			})
		}),
	}
	addOutput(cmd, &out)
	addSettings(cmd, storeOnly)
	return cmd
}

func (p *program) printDeadLetter(d store.DeadLetter) error {
	t := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	for _, f := range [][2]string{
		{"id", d.ID},
		{"job", d.JobID},
		{"type", d.TaskType},
		{"reason", d.Reason},
		{"class", d.ErrorClass},
		{"error type", d.ErrorType},
		{"code", d.ErrorCode},
		{"error", d.ErrorMessage},
		{"attempts", strconv.Itoa(d.Attempts)},
		{"took", formatMillis(d.ProcessingMS)},
		{"worker", d.WorkerID},
		{"queue", d.SourceQueue},
		{"at", formatTime(d.CreatedAt)},
		{"replayed", formatTimePtr(d.ReplayedAt)},
		{"replayed as", d.ReplayedAs},
		{"replayed by", d.ReplayedBy},
		{"replays", map[bool]string{true: strconv.Itoa(d.Replays)}[d.Replays > 1]},
	} {
		if f[1] != "" {
			fmt.Fprintf(t, "%s\t%s\n", f[0], printable(f[1]))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.stdout, "\noriginal message:\n%s\n", printableLines(d.Original))
	return err
}
