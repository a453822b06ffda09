package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// queueDepth is what `queue -o json` prints for each queue.
type queueDepth struct {
	Name     string `json:"name"`
	About    string `json:"about"`
	Messages int    `json:"messages"` // approximate, includes hidden ones
	Missing  bool   `json:"missing,omitempty"`
}

func (p *program) newQueueCommand() *cobra.Command {
	var out format
	const groups = config.Tenant | config.Queue
	cmd := &cobra.Command{
		Use: "queue", Short: "Show the approximate number of messages on the tenant's queues",
		Long: `queue asks the queues' service how many messages are on each of the tenant's queues. The numbers are
approximate and include hidden messages: those of running tasks and those that wait for a retry.`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			return p.withTenant(cmd, groups, func(ctx context.Context, t *app.Tenant) error {
				depths, err := depthsOf(ctx, t, p.atLeast(depthTimeout))
				if err != nil {
					return err
				}
				if out == asJSON {
					return printJSON(p.stdout, depths)
				}
				rows := make([][]string, 0, len(depths))
				for _, d := range depths {
					about := d.About
					if d.Missing {
						about = "does not exist yet: the worker creates it at its start"
					}
					rows = append(rows, []string{d.Name, strconv.Itoa(d.Messages), p.addressed(about)})
				}
				return table(p.stdout, []string{"QUEUE", "MESSAGES", "WHAT"}, rows)
			})
		}),
	}
	addOutput(cmd, &out)
	addSettings(cmd, groups)
	return cmd
}

// depthTimeout bounds the requests to the queues.
const depthTimeout = 10 * time.Second

func depthsOf(ctx context.Context, t *app.Tenant, limit time.Duration) ([]queueDepth, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not answer within %v", limit))
	defer cancel()
	var all []queueDepth
	for _, q := range []struct {
		queue.Queue
		about string
	}{
		{t.Queues.High, "urgent tasks"},
		{t.Queues.Normal, "tasks"},
		{t.Queues.Low, "tasks that can wait"},
		{t.Queues.DeadLetter, "copies of dead letters; async-worker dlq list shows all"},
	} {
		n, err := q.Depth(ctx)
		if errors.Is(err, queue.ErrNotFound) {
			all = append(all, queueDepth{Name: q.Name(), About: q.about, Missing: true})
			continue
		}
		if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = &taskerr.Error{Class: taskerr.NetworkTimeout, Message: context.Cause(ctx).Error(), Cause: err}
		}
		if err != nil {
			return nil, &failure{"ask the queues at " + t.QueuesAddress(), nextService(t, err), err}
		}
		all = append(all, queueDepth{Name: q.Name(), About: q.about, Messages: n})
	}
	return all, nil
}
