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
		Long: `retry queues failed jobs again, each under its own id. Earlier attempts count: a job that used all of
them is refused, as is one whose dead letter was replayed as another job; --force resets the attempts and
retries both. To repeat the task as a new job, or with a fixed message, see async-worker dlq replay.`,
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
							&failure{"retry job " + strconv.Quote(id), nextService(err), err})
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
		"reset the attempts, and retry a job that was replayed")
	cmd.Flags().BoolVar(&rowsOnly, "rows-only", false, "leave the copies of its dead letter on the dead-letter queue")
	addOutput(cmd, &out)
	addSettings(cmd, replayNeeds)
	return cmd
}

// retryJob finishes a started retry despite an interruption.
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
