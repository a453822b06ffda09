package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

func TestMain(m *testing.M) {
	stacktest.AtATime(4)
	leaktest.Main(m)
}

// newTestServers start servers that end with the test.
func newTestServers(t *testing.T) *servers {
	t.Helper()
	built := &programs{}
	g, err := newServers(t.Context(), built, false)
	if err != nil {
		t.Fatal(err)
	}
	g.recovery = 8 * time.Minute // beside other tests Azurite may not answer for half a minute, and again
	t.Cleanup(func() {
		if err := errors.Join(g.close(), built.remove()); err != nil {
			t.Error(err)
		}
	})
	return g
}

// TestShort runs a little of each kind that no other test runs. `make prove` runs all of it.
func TestShort(t *testing.T) {
	t.Parallel()
	shared := newTestServers(t)
	for name, args := range map[string][]string{
		"crash":         {"-run", shortRuns, "-stores", "postgres", "-queues", "azure"},
		"crash ingest":  {"-run", shortRuns, "-stores", "postgres", "-queues", "postgres,nats", "-scenarios", "ingest"},
		"kill azure":    {"-queues", "azure", "-duration", "10s", "-tasks", "60", "-untimed"},
		"kill postgres": {"-queues", "postgres", "-duration", "10s", "-tasks", "60", "-untimed"},
		"kill nats":     {"-queues", "nats", "-duration", "10s", "-tasks", "60", "-untimed"},
		"zombie":        {"-tries", "1", "-stores", "postgres"},
		"network":       {"-runs", "1"}, "simulation": {"-schedules", "20"},
		"mutation": {"-run", "^mutation/blob-out-of-the-container$"},
		// Longer than an attempt tries the model: else a task may fail alone when the outage ends, and its attempt counts.
		"outage":  {"-outage", "8s", "-run", "^outage/(azure/(database/hangs|model/503)|nats/queue/refuses|postgres/database/refuses)/postgres$", "-untimed"},
		"poison":  {"-poison", "15s", "-run", "^poison/azure/model/500$", "-untimed"},
		"cancel":  {"-queues", "azure", "-cancels", "10", "-untimed"},
		"mutants": {"-mutants", "200", "-untimed", "-run", "^mutants/[a-np-z]"}, // without OCR
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, _, _ := strings.Cut(name, " ")
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute) // ends what hangs
			defer cancel()
			var out bytes.Buffer
			o, err := parse(append([]string{"-kind", kind, "-parallel", "8"}, args...), &out)
			if err != nil {
				t.Fatal(err)
			}
			o.out, o.built, o.shared = &out, shared.built, shared
			if code := prove(ctx, o); code != 0 {
				t.Errorf("it ended with %d:\n%s", code, out.String())
			}
			t.Log(out.String())
		})
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"-kind", "flood"},
		{"-kind", ""},
		{"-stores", "sqlite"},
		{"-queues", "sqs"},
		{"-queues", "nats,nats"},
		{"-scenarios", "lunch"},
		{"-run", "("},
		{"-tasks", "many"},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, &out, &errs); code != 2 || errs.Len() == 0 {
			t.Errorf("%v: exit code %d, output %q; want 2 and what is wrong", args, code, errs.String())
		}
	}
}

// TestRulesGoRed violates each rule after a clean run, and checks that the rule reports it.
func TestRulesGoRed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g := newTestServers(t)
	file, err := g.built.of(ctx, "./test/prove/crashworker")
	if err != nil {
		t.Fatal(err)
	}
	tenant := cleanRun(t, g, file)
	for _, tt := range []struct{ rule, sql string }{
		{"I1 every", `update jobs set status = 'running', completed_at = null where id = 'good'`},
		{"I2 a series", `insert into prove.ledger (client_id, job_id, what, was, now, fence, attempts, series)
			select client_id, job_id, what, was, now, fence, attempts, series from prove.ledger where now = 'succeeded'`},
		{"I2 one effect", `insert into prove.ledger (client_id, job_id, what) select client_id, id, 'version' from jobs where id = 'bad'`},
		{"I2 the effect", `update prove.ledger set txid = '1' where what = 'version'`},
		{"I3 ", `update prove.ledger set was = 'succeeded' where now = 'failed'`},
		{"I4 ", `update prove.ledger set fence = fence + 1 where now = 'succeeded'`},
		{"I5 ", `insert into prove.ledger (client_id, job_id, what) select client_id, id, 'fingerprint' from jobs`},
		{"I6 one dead letter", `delete from prove.ledger where what = 'dead_letter'`},
		{"I6 every dead letter", `update dead_letters set sent_at = null`},
		{"I7 ", `insert into prove.ledger (client_id, job_id, what, txid) select client_id, id, 'webhook', '1' from jobs`},
		{"I8 events", `delete from job_events where seq = 2`},
		{"I8 progress", `update job_events set progress = 100 where seq = 1`},
		{"I8 one terminal", `update job_events set stage = 'failed' where seq = 1`},
		{"I8 a duplicate", `update job_events set metadata = '{"duplicate_message_id": "x"}' where job_id = 'good' and seq = 2`},
		{"I8 a duplicate", `update dead_letters set message_id = metadata ->> 'duplicate_message_id' from job_events where metadata ? 'duplicate_message_id'`},
		{"I8 a success", `update jobs set progress = 99 where id = 'good'`},
		{"I9 every attempt", `update jobs set attempts = 2 where id = 'good'`},
		{"I9 only an error", `update jobs set attempts = 2 where id = 'good'`},
		{"one active", `update documents set active_version = 7`},
		{"no staged", `update document_versions set status = 'staged'`},
		{"no chunk", `delete from document_chunks where position = 0`},
		{"one webhook", `update webhook_deliveries set status = 'failed'`},
		{"one webhook", `delete from webhook_deliveries where event = 'task.rejected'`},
	} {
		found := sabotaged(t, tenant, tt.sql)
		if !strings.Contains("\n"+strings.Join(found, "\n"), "\n"+tt.rule) {
			t.Errorf("the rule %q did not report %s; these did: %q", tt.rule, tt.sql, found)
		}
	}
}

// cleanRun runs a good and a bad task; the bad one is sent again.
func cleanRun(t *testing.T, g *servers, file string) *tenant {
	t.Helper()
	ctx := t.Context()
	tn, err := g.newTenant(ctx, azureBed{g}, postgresStore)
	if err != nil {
		t.Fatal(err)
	}
	env, err := tn.environment(tn.direct(), "LLM_PROVIDER=offline")
	if err != nil {
		t.Fatal(err)
	}
	if err := tn.upload(ctx, "doc.md", document); err != nil {
		t.Fatal(err)
	}
	if err := tn.send(ctx, tn.ingest("good", "doc.md", g.hooks.URL, nil), "good", "succeeded"); err != nil {
		t.Fatal(err)
	}
	if err := tn.send(ctx, tn.ingest("bad", "missing.md", g.hooks.URL, nil), "bad", "failed"); err != nil {
		t.Fatal(err)
	}
	p, err := start(ctx, file, env)
	if err != nil {
		t.Fatal(err)
	}
	if err = tn.drain(ctx, g.recovery, p.Done()); err == nil {
		// The second message must be of another second than the end.
		_, aged := tn.db.Exec(ctx, `update jobs set completed_at = completed_at - interval '1 s' where client_id = $1 and id = 'bad'`, tn.client)
		err = errors.Join(aged, tn.put(ctx, tn.ingest("bad", "missing.md", g.hooks.URL, nil)),
			tn.drain(ctx, g.recovery, p.Done()))
	}
	if e := p.end(); err != nil || e != nil {
		t.Fatal(err, e, p.log)
	}
	found, err := tn.check(ctx, newReport(ctx, "clean", 1, &bytes.Buffer{}), 0)
	if err != nil || len(found) > 0 {
		t.Fatalf("after a clean run: %v, %q", err, found)
	}
	return tn
}

// sabotaged changes rows without triggers and constraints, checks the rules, and rolls back.
func sabotaged(t *testing.T, tn *tenant, sql string) []string {
	t.Helper()
	ctx := t.Context()
	tx, err := tn.db.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	if _, err := tx.Exec(ctx, "set local session_replication_role = replica; "+sql,
		pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	found, err := broken(ctx, tx, tn.client)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
