package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (p *program) newJobsRetryCommand() *cobra.Command {
	var out format
	var force, rowsOnly bool
	cmd := &cobra.Command{
		Use: "retry ID...", Short: "Queue failed jobs again, under the same ids",
		Long: `retry queues failed jobs again, each under its own id. The attempts that it had count on: a job that used all
of them is refused unless --force, which begins them again, and so is one whose dead letter was replayed as
another job. To do the task as a new job, or with a mended message, see async-worker dlq replay.`,
		Args: someArgs("the ID of a job"),
		RunE: p.action(func(cmd *cobra.Command, ids []string) error {
			return p.withTenant(cmd, replayNeeds, func(ctx context.Context, t *app.Tenant) error {
				var jobs []store.Job
				var letters []string
				for _, id := range ids {
					j, letter, err := retryJob(ctx, t, id, force)
					if letter != "" {
						letters = append(letters, letter)
					}
					if err != nil {
						return errors.Join(p.printRetried(out, jobs),
							&failure{"retry job " + strconv.Quote(id), nextOpen, err})
					}
					jobs = append(jobs, j)
				}
				if !rowsOnly && len(letters) > 0 {
					p.removeCopies(ctx, t, letters)
				}
				return p.printRetried(out, jobs)
			})
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false,
		"begin its attempts again, whatever it used, and although it was replayed")
	cmd.Flags().BoolVar(&rowsOnly, "rows-only", false, "leave the copies of its dead letter on the dead-letter queue")
	addOutput(cmd, &out)
	addSettings(cmd, replayNeeds)
	return cmd
}

// retryJob finishes what it began although somebody interrupts.
func retryJob(ctx context.Context, t *app.Tenant, id string, force bool) (store.Job, string, error) {
	if err := ctx.Err(); err != nil {
		return store.Job{}, "", err
	}
	bounded, done := context.WithTimeout(context.WithoutCancel(ctx), replayTimeout)
	defer done()
	return t.Replayer().Retry(bounded, id, whoami(), force)
}

func (p *program) printRetried(out format, jobs []store.Job) error {
	if out == asJSON {
		return printJSON(p.stdout, orEmpty(jobs))
	}
	for _, j := range jobs {
		fmt.Fprintln(p.stdout, printable(fmt.Sprintf("%s is queued again, with %d of %d attempts used", j.ID,
			j.Attempts, j.MaxAttempts)))
	}
	return nil
}
