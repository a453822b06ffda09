package main

import (
	"context"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (p *program) newDLQCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "dlq", Short: "See the dead letters: tasks that could not be done", Args: cobra.NoArgs, RunE: showHelp,
	}
	cmd.AddCommand(p.newDLQListCommand(), p.newDLQShowCommand())
	return cmd
}

func (p *program) newDLQListCommand() *cobra.Command {
	var out format
	var f store.DeadLetterFilter
	var before string
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List dead letters, the newest first",
		Example: `  async-worker dlq list --class validation_error
  async-worker dlq list --job 4b1c -o json`,
		Args: cobra.NoArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			var err error
			if f.Before, err = parseBefore(before); err != nil {
				return err
			}
			if err := checkLimit(f.Limit, 1000); err != nil {
				return err
			}
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				letters, err := t.Store.DeadLetters(ctx, f)
				if err != nil {
					return &failure{"list dead letters", nextStore, err}
				}
				return p.printDeadLetters(out, letters)
			})
		}),
	}
	addOutput(cmd, &out)
	cmd.Flags().StringVar(&f.JobID, "job", "", "only those of this job")
	cmd.Flags().StringVar(&f.Type, "type", "", "only those of this task type")
	cmd.Flags().StringVar(&f.Class, "class", "", "only those of this error class, e.g. validation_error")
	cmd.Flags().StringVar(&before, "before", "", "only those of before this time, e.g. 2026-03-01T12:00:00Z; for the next page")
	cmd.Flags().IntVarP(&f.Limit, "limit", "n", 50, "how many at most, 1 to 1000")
	addSettings(cmd, storeOnly)
	return cmd
}

func (p *program) printDeadLetters(out format, letters []store.DeadLetter) error {
	if out == asJSON {
		return printJSON(p.stdout, orEmpty(letters))
	}
	rows := make([][]string, 0, len(letters))
	for _, d := range letters {
		rows = append(rows, []string{
			d.ID, d.JobID, d.TaskType, d.Reason, d.ErrorClass, strconv.Itoa(d.Attempts), when(d.CreatedAt), shorten(d.ErrorMessage, 80),
		})
	}
	return table(p.stdout, []string{"ID", "JOB", "TYPE", "REASON", "CLASS", "TRIES", "AT", "ERROR"}, rows)
}

func (p *program) newDLQShowCommand() *cobra.Command {
	var out format
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show a dead letter with the original message", Args: cobra.ExactArgs(1),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				d, err := t.Store.DeadLetter(ctx, args[0])
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
		{"error", d.ErrorMessage},
		{"attempts", strconv.Itoa(d.Attempts)},
		{"queue", d.SourceQueue},
		{"at", when(d.CreatedAt)},
		{"replayed", whenever(d.ReplayedAt)},
		{"replayed as", d.ReplayedAs},
	} {
		if f[1] != "" {
			fmt.Fprintf(t, "%s\t%s\n", f[0], printable(f[1]))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.stdout, "\noriginal message:\n%s\n", lines(d.Original))
	return err
}
