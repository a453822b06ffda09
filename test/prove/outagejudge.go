package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// outageCost is what the ledger records of an outage.
type outageCost struct {
	Lost, Doubled, Consumed, Waited int
	Begun, Committed, Drained       *time.Time
}

// judge checks the invariants and the cost of the outage, and prints it.
func (o *outageRun) judge(ctx context.Context) ([]string, error) {
	found, err := o.check(ctx, o.report, 0)
	if err != nil {
		return found, err
	}
	rows, err := o.db.Query(ctx, `select
		(select $2 - count(*) from jobs where client_id = $1) as lost,
		(select count(*) from (select from prove.ledger where client_id = $1 and what = 'version'
		  group by job_id having count(*) > 1) d) as doubled,
		(select coalesce(sum(attempts - 1), 0) from jobs where client_id = $1) as consumed,
		(select count(*) from job_events where client_id = $1
		  and message like 'waiting for the %, which is down') as waited,
		(select min(at) from prove.ledger where client_id = $1 and what = 'move' and now = 'running'
		  and at >= $3) as begun,
		(select min(at) from prove.ledger where client_id = $1 and what = 'move' and now = 'succeeded'
		  and at >= $3) as committed,
		(select max(at) from prove.ledger where client_id = $1 and what = 'move') as drained`,
		o.client, len(o.expected), o.mended)
	if err != nil {
		return found, err
	}
	a, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[outageCost])
	if err != nil {
		return found, err
	}
	return append(found, o.measure(a)...), nil
}

func (o *outageRun) measure(a outageCost) (found []string) {
	o.report.add("tasks", len(o.expected))
	o.report.add("attempts consumed", a.Consumed)
	o.report.add("messages lost", a.Lost)
	o.report.add("double effects", a.Doubled)
	waits := o.outageCase.service == "model" || o.outageCase.service == "blobs" && o.how != hangs
	if waits && a.Waited == 0 && o.length > outageTrial {
		found = append(found, "the breaker opens: no task was released to wait for the "+o.outageCase.service)
	}
	if a.Consumed > o.cutOff {
		found = append(found, fmt.Sprintf(
			"I9 an outage costs no attempt: %d were consumed, at most %d (begins whose answer was lost)", a.Consumed,
			o.cutOff))
	}
	if a.Begun == nil || a.Committed == nil {
		return append(found, "nothing was left to do after the outage: this run proves nothing")
	}
	since := func(t time.Time) time.Duration { return t.Sub(o.mended).Round(10 * time.Millisecond) }
	if late := since(*a.Begun); late > outageResume && o.timed {
		found = append(found, fmt.Sprintf(
			"work resumes within one poll interval: the first attempt began %v after, at most %v", late, outageResume))
	}
	o.report.printf("%-38s %v, met %d running; tasks %d, lost %d, doubled %d, attempts consumed %d (at most %d); "+
		"back: first begin %v, commit %v, drained %v",
		o.name, o.length, o.running, len(o.expected), a.Lost, a.Doubled, a.Consumed, o.cutOff, since(*a.Begun),
		since(*a.Committed), since(*a.Drained))
	return found
}
