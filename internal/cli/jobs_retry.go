package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (p *program) newJobsRetryCommand() *cobra.Command {
	var out format
	var how replay.Retrying
	var rowsOnly bool
	cmd := &cobra.Command{
		Use: "retry ID...", Short: "Queue failed jobs again, under the same ids",
		Long: `retry queues failed jobs again, each under its own id. Earlier attempts count: a job that used all of
them is refused, unless --reset-attempts is given. So is one whose dead letter was replayed as another job,
unless --force resets the attempts and retries it. A refused job is an error, and the other jobs are still
retried. To repeat the task as a new job, or with a fixed message, see async-worker dlq replay.`,
		Args: someArgs("the ID of a job"),
		RunE: p.action(func(cmd *cobra.Command, ids []string) error {
			return p.withTenant(cmd, replayNeeds, func(ctx context.Context, t *app.Tenant) error {
				var jobs []store.Job
				var letters []string
				var failed []error
				for _, id := range ids {
					j, letter, err := retryJob(ctx, t, id, how)
					if letter != "" {
						letters = append(letters, letter)
					}
					if err == nil {
						jobs = append(jobs, j)
						continue
					}
					failed = append(failed, &failure{"retry job " + strconv.Quote(id), nextService(t, err), err})
					if !isRefused(err) {
						break
					}
				}
				if !rowsOnly && len(letters) > 0 {
					p.removeCopies(ctx, t, letters)
				}
				return errors.Join(p.printRetried(out, jobs), errors.Join(failed...))
			})
		}),
	}
	cmd.Flags().BoolVar(&how.ResetAttempts, "reset-attempts", false, "reset the attempts")
	cmd.Flags().BoolVar(&how.Force, "force", false, "reset the attempts, and retry a job that was replayed")
	cmd.Flags().BoolVar(&rowsOnly, "rows-only", false, "leave the copies of its dead letter on the dead-letter queue")
	addOutput(cmd, &out)
	addSettings(cmd, replayNeeds)
	return cmd
}

// isRefused reports whether one job is refused, so that the others can still be retried.
func isRefused(err error) bool {
	for _, refusal := range []error{store.ErrNotFound, store.ErrNotFailed, store.ErrExhausted, store.ErrReplayed} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	_, ok := errors.AsType[*replay.Refusal](err)
	return ok
}

// retryJob finishes a started retry despite an interruption.
func retryJob(ctx context.Context, t *app.Tenant, id string, how replay.Retrying) (store.Job, string, error) {
	if err := ctx.Err(); err != nil {
		return store.Job{}, "", err
	}
	bounded, done := context.WithTimeout(context.WithoutCancel(ctx), replayTimeout)
	defer done()
	return t.Replayer().Retry(bounded, id, whoami(), how)
}

func (p *program) printRetried(out format, jobs []store.Job) error {
	if out == asJSON {
		return printJSON(p.stdout, orEmpty(jobs))
	}
	for _, j := range jobs {
		fmt.Fprintln(p.stdout, p.addressed(printable(fmt.Sprintf("%s is queued again, with %d of %d attempts used; "+
			"follow it with: async-worker jobs watch %s", j.ID, j.Attempts, j.MaxAttempts, j.ID))))
	}
	return nil
}
