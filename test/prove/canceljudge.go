package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// ending is a canceled task, from its row and the ledger.
type ending struct {
	ID, Status, Stage string
	Placeholder       bool
	Latency           time.Duration
}

// judge checks, and prints when the cancels were requested and how long they took.
func (c *cancelRun) judge(ctx context.Context) ([]string, error) {
	found, err := c.check(ctx, c.report, 0)
	if err != nil {
		return found, err
	}
	rows, err := c.db.Query(ctx, `
		select j.id, j.status, j.placeholder, coalesce(j.completed_at - j.cancel_requested_at, '0') as latency,
		  coalesce((select e.stage from job_events e where e.client_id = j.client_id and e.job_id = j.id
		    and e.at <= j.cancel_requested_at and e.stage <> '' order by e.seq desc limit 1), 'started') as stage
		from jobs j where j.client_id = $1 and j.id like 'task-%' order by j.id`, c.client)
	if err != nil {
		return found, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[ending])
	if err != nil {
		return found, err
	}
	wrong, err := c.wrongWebhooks(ctx)
	return append(append(found, wrong...), c.figures(all)...), err
}

// wrongWebhooks: a canceled job's webhook reports that, and no other job's does.
func (c *cancelRun) wrongWebhooks(ctx context.Context) ([]string, error) {
	rows, err := c.db.Query(ctx, `select 'the webhook of ' || j.id || ', which is ' || j.status || ', is ' || w.event
		from webhook_deliveries w join jobs j on j.client_id = w.client_id and j.id = w.job_id
		where w.client_id = $1 and (w.event = 'task.canceled') <> (j.status = 'canceled')`, c.client)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func (c *cancelRun) figures(all []ending) (found []string) {
	var took []time.Duration
	moments := map[string]int{}
	for _, e := range all {
		a := c.answers[e.ID]
		switch {
		case e.Placeholder:
			moments["before its message"]++
		case a.err != nil:
			moments["too late"]++
		case e.Status == "succeeded":
			moments["at its commit"]++
		default:
			moments[e.Stage]++
			took = append(took, e.Latency)
			if e.Latency > cancelLatency && c.timed {
				found = append(found, fmt.Sprintf("a cancel takes at most %v: %s took %v, in %s", cancelLatency,
					e.ID, e.Latency.Round(time.Millisecond), e.Stage))
			}
		}
		c.report.add("ended "+e.Status, 1)
	}
	var when []string
	for moment, n := range moments {
		when = append(when, fmt.Sprintf("%s %d", moment, n))
	}
	slices.Sort(when)
	c.report.printf("%s: canceled: %s", c.name(), strings.Join(when, ", "))
	if len(took) == 0 {
		return append(found, "no running task was canceled: this run proves nothing")
	}
	c.report.spread(c.name()+": from the request to the canceled row of running tasks", took)
	return found
}
