package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// rule is an invariant as a query for its violations. $1 is the client.
type rule struct {
	holds string
	sql   string
}

// rules are checked when everything is drained. They read the worker's tables and the ledger.
func rules() []rule {
	return []rule{
		{"I1 every job has ended", `select id || ' is ' || status from jobs where client_id = $1
		  and status in ('pending', 'running')`},
		{"I2 a series ends exactly once", `
			select job_id || ' ended ' || count(*) filter (where now in ('succeeded', 'failed', 'canceled'))
			  || ' times in series ' || series
			from prove.ledger where client_id = $1 and what = 'move' group by job_id, series
			having count(*) filter (where now in ('succeeded', 'failed', 'canceled')) <> 1`},
		{"I2 one effect for each success, none without", `
			select j.id || ' is ' || j.status || ' with ' || count(l.n) || ' activated versions, derived files or decks'
			from jobs j left join prove.ledger l on l.client_id = j.client_id and l.job_id = j.id
			  and l.what = any (case j.type when 'convert' then '{deck}' else '{version,derived}' end::text[])
			where j.client_id = $1 group by j.id, j.type, j.status, j.result
			having count(l.n) <> case when j.status = 'succeeded' and j.type <> 'export'
			  and not coalesce((j.result ->> 'unchanged')::boolean, false) then 1 else 0 end`},
		{"I2 the effect is in the transaction that ends the job", `
			select v.job_id from prove.ledger v where v.client_id = $1 and v.what in ('version', 'derived', 'deck')
			  and not exists (
			  select from prove.ledger m where m.client_id = v.client_id and m.job_id = v.job_id and m.txid = v.txid
			    and m.now = 'succeeded')`},
		{"I3 only legal moves", `
			select job_id || ': ' || coalesce(was, 'nothing') || ' to ' || now from prove.ledger l
			  where client_id = $1 and what = 'move'
			and (coalesce(was, ''), now) not in (('', 'pending'), ('', 'running'), ('', 'canceled'), ('pending', 'running'),
			  ('pending', 'failed'), ('pending', 'canceled'), ('running', 'running'), ('running', 'pending'),
			  ('running', 'succeeded'), ('running', 'failed'), ('running', 'canceled'))`},
		{"I4 every run has the next fence, nothing else changes it", `
			select job_id || ': fence ' || before || ' to ' || fence || ' with ' || now from (
			  select *, lag(fence, 1, 0::bigint) over (partition by job_id order by n) as before
			  from prove.ledger where client_id = $1 and what = 'move') l
			where fence - before <> case when now = 'running' then 1 else 0 end`},
		{"I5 a job keeps its payload", `select job_id from prove.ledger where client_id = $1
		  and what = 'fingerprint'`},
		{"I6 attempts are at most max", `select id from jobs where client_id = $1 and attempts > max_attempts`},
		{"I6 one dead letter for each failed job, none for others", `
			select j.id || ' is ' || j.status || ' with ' || count(l.n) || ' dead letters'
			from jobs j left join prove.ledger l on l.client_id = j.client_id and l.job_id = j.id
			  and l.what = 'dead_letter'
			where j.client_id = $1 group by j.id, j.status
			having count(l.n) <> case when j.status = 'failed' then 1 else 0 end`},
		{
			"I6 every dead letter was copied",
			`select id::text from dead_letters where client_id = $1 and sent_at is null`,
		},
		{"I7 nothing is committed after a job has ended", `
			select l.job_id || ': ' || l.what from prove.ledger l join prove.ledger e using (client_id, job_id)
			where l.client_id = $1 and e.what = 'move' and e.now in ('succeeded', 'failed', 'canceled')
			  and l.n > e.n and l.txid <> e.txid
			  -- A job canceled before its message learns its webhook only from that message.
			  and not (l.what = 'webhook' and e.now = 'canceled' and not exists (select from prove.ledger r
			    where r.client_id = $1 and r.job_id = l.job_id and r.what = 'move' and r.now = 'running'))
			  -- Webhooks about dropped messages are not outcomes of the job.
			  and not (l.what = 'webhook' and l.now is not distinct from 'task.rejected')`},
		{"I8 events are gap-free", `
			select j.id from jobs j left join job_events e on e.client_id = j.client_id and e.job_id = j.id
			  where j.client_id = $1
			group by j.id, j.event_seq having count(e.seq) <> j.event_seq or max(e.seq) <> j.event_seq
			  or min(e.seq) <> 1`},
		{"I8 progress never falls", `
			select job_id || ' at ' || seq from (select *, lag(progress) over (partition by job_id, series
			  order by seq) as before
			  from job_events where client_id = $1) e where progress < before`},
		{"I8 one terminal event ends a job", `
			select j.id from jobs j join job_events e on e.client_id = j.client_id and e.job_id = j.id
			  where j.client_id = $1
			group by j.id, j.event_seq, j.status
			having count(*) filter (where e.stage in ('completed', 'failed', 'canceled')) <> 1
			  or max(e.seq) filter (where e.stage = case j.status when 'succeeded' then 'completed' else j.status end)
			    is distinct from max(e.seq) filter (where e.stage <> '' or e.metadata is null
			      or not e.metadata ? 'duplicate_message_id')`},
		{"I8 a duplicate is one of a failed job, did not end it, and is reported once", `
			select e.job_id || ' at ' || e.seq from job_events e join jobs j on j.client_id = e.client_id
			  and j.id = e.job_id
			where e.client_id = $1 and e.metadata ? 'duplicate_message_id' and (j.status <> 'failed'
			  or exists (select from dead_letters d where d.client_id = e.client_id and d.job_id = e.job_id
			    and d.message_id = e.metadata ->> 'duplicate_message_id')
			  or exists (select from job_events o where o.client_id = e.client_id and o.job_id = e.job_id
			    and o.seq < e.seq
			    and o.metadata ->> 'duplicate_message_id' = e.metadata ->> 'duplicate_message_id'))`},
		{"I8 a success is at 100", `select id from jobs where client_id = $1 and status = 'succeeded'
		  and progress <> 100`},
		{"I9 every attempt was started, and what was given back is not counted", `
			select j.id || ': attempts ' || j.attempts || ', started ' || count(*) filter (where e.stage = 'started')
			from jobs j join job_events e on e.client_id = j.client_id and e.job_id = j.id where j.client_id = $1
			group by j.id, j.attempts
			having j.attempts <> count(*) filter (where e.stage = 'started') - count(*)
			  filter (where e.stage = 'released')`},
		{"I9 only an error or a lost worker costs another attempt", `
			select j.id || ': attempts ' || j.attempts from jobs j join job_events e on e.client_id = j.client_id
			  and e.job_id = j.id
			where j.client_id = $1 group by j.id, j.attempts
			having j.attempts - 1 > count(*) filter (where e.stage in ('worker_lost', 'retrying'))`},
		{"one active version for each document, and it is the document's", `
			select d.id::text from documents d left join document_versions v
			  on v.client_id = d.client_id and v.document_id = d.id and v.status = 'active'
			where d.client_id = $1 and (d.active_version is not null or d.chunks_left is null) -- else it is deleted
			group by d.id, d.active_version having count(v.version) <> 1
			  or max(v.version) is distinct from d.active_version`},
		{"no staged version is left", `select document_id::text from document_versions where client_id = $1
		  and status = 'staged'`},
		{"no chunk but those of active versions, without gaps, and those that a commit left", `
			select v.document_id::text || ' version ' || v.version from document_versions v
			left join document_chunks c on c.client_id = v.client_id and c.document_id = v.document_id
			  and c.version = v.version
			where v.client_id = $1 and not (v.status = 'superseded' and exists (
			  select from documents d where d.client_id = v.client_id and d.id = v.document_id and d.chunks_left))
			group by v.document_id, v.version, v.status, v.chunks
			having count(c.id) <> case when v.status = 'active' then v.chunks else 0 end
			  or coalesce(max(c.position) + 1, 0) <> count(c.id)`},
		{"one webhook in the outbox for each end and each reported duplicate, and it is delivered", `
			select j.id || ': ' || count(w.id) || ' in the outbox, ' || count(w.id)
			  filter (where w.status = 'delivered') || ' delivered'
			from jobs j left join webhook_deliveries w on w.client_id = j.client_id and w.job_id = j.id
			where j.client_id = $1 and j.webhook_url is not null group by j.client_id, j.id
			having count(w.id) filter (where w.event <> 'task.rejected') <> 1
			  or count(w.id) filter (where w.event = 'task.rejected') <> (select count(*) from job_events e
			    where e.client_id = j.client_id and e.job_id = j.id and e.metadata ? 'duplicate_message_id')
			  or count(w.id) filter (where w.status = 'delivered') <> count(w.id)`},
	}
}

// check checks a drained tenant against everything, and returns the violations. deaths is how many processes were
// ended: each may have left a second copy of a dead letter.
func (t *tenant) check(ctx context.Context, r *report, deaths int) ([]string, error) {
	found, err := broken(ctx, t.db, t.client)
	if err != nil {
		return found, err
	}
	for _, f := range []func(context.Context, *report) ([]string, error){
		t.checkExpected, t.checkWebhooks,
		func(ctx context.Context, _ *report) ([]string, error) { return t.checkArtifacts(ctx, deaths) },
		func(ctx context.Context, r *report) ([]string, error) { return t.checkLetters(ctx, r, deaths) },
	} {
		more, err := f(ctx, r)
		found = append(found, more...)
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// broken returns the violations of the rules.
func broken(ctx context.Context, db querier, client string) (found []string, err error) {
	for _, rule := range rules() {
		rows, err := db.Query(ctx, rule.sql, client)
		if err != nil {
			return found, fmt.Errorf("check %q: %w", rule.holds, err)
		}
		whats, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return found, fmt.Errorf("check %q: %w", rule.holds, err)
		}
		for _, what := range whats {
			found = append(found, rule.holds+": "+what)
		}
	}
	return found, nil
}

// checkExpected: every task that was sent has a job, in an expected state (I1).
func (t *tenant) checkExpected(ctx context.Context, _ *report) ([]string, error) {
	rows, err := t.db.Query(ctx, `select id, status from jobs where client_id = $1`, t.client)
	if err != nil {
		return nil, err
	}
	states := map[string]string{}
	var id, state string
	if _, err := pgx.ForEachRow(rows, []any{&id, &state}, func() error { states[id] = state; return nil }); err != nil {
		return nil, err
	}
	var found []string
	for _, e := range t.expected {
		switch state, ok := states[e.task]; {
		case !ok:
			found = append(found, "I1 no task is lost: "+e.task+" has no job")
		case !slices.Contains(e.states, state):
			found = append(found, fmt.Sprintf("I1 a task ends as expected: %s is %s, want %s", e.task, state,
				strings.Join(e.states, " or ")))
		}
		delete(states, e.task)
	}
	for _, id := range t.unsure {
		delete(states, id)
	}
	for id := range states {
		found = append(found, "a job that nobody sent: "+id)
	}
	return found, nil
}

// checkWebhooks: the receiver got each task's end under exactly the one webhook-id of the outbox.
func (t *tenant) checkWebhooks(ctx context.Context, r *report) ([]string, error) {
	rows, err := t.db.Query(ctx, `select id, coalesce(job_id, ''), event from webhook_deliveries where client_id = $1`,
		t.client)
	if err != nil {
		return nil, err
	}
	var found []string
	var id, job, event string
	_, err = pgx.ForEachRow(rows, []any{&id, &job, &event}, func() error {
		heard := t.hooks.of(t.client, job)
		if got := heard[id]; got.Type != event {
			found = append(found, fmt.Sprintf("a webhook reaches its receiver: %s sent %q, want %q", job,
				got.Type, event))
		} else if got.times > 1 {
			r.add("webhooks sent again under their id", got.times-1)
		}
		// of a duplicate
		maps.DeleteFunc(heard, func(_ string, got received) bool { return got.Type == "task.rejected" })
		if len(heard) > 1 {
			found = append(found, fmt.Sprintf("one webhook-id for each task: %s had %d", job, len(heard)))
		}
		return nil
	})
	return found, err
}

// checkLetters reads the dead-letter queue: a copy of each row and nothing else. A death between sending a copy and
// recording that may leave a second copy.
func (t *tenant) checkLetters(ctx context.Context, r *report, deaths int) ([]string, error) {
	if t.copies == nil {
		t.copies = map[string]int{} // a message read here is not there at the next check
	}
	texts, err := t.queues.letters(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		var envelope struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal([]byte(text), &envelope); err != nil {
			envelope.ID = "not JSON" // the id of no row
		}
		t.copies[envelope.ID]++
	}
	rows, err := t.db.Query(ctx, `select id::text from dead_letters where client_id = $1`, t.client)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	var found []string
	copies := maps.Clone(t.copies)
	for _, id := range ids {
		if n := copies[id]; n < 1 || n > 1+deaths {
			found = append(found, fmt.Sprintf("I6 a dead letter is on its queue: %s has %d copies", id, n))
		} else if n > 1 {
			r.add("dead letters copied again under their id", n-1)
		}
		delete(copies, id)
	}
	for id := range copies {
		found = append(found, "I6 a copy of a dead letter without a row: "+id)
	}
	return found, nil
}
