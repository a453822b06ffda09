package schema_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

func printed(t *testing.T, o schema.Options) string {
	t.Helper()
	var script bytes.Buffer
	if err := schema.Print(&script, o); err != nil {
		t.Fatal(err)
	}
	return script.String()
}

// psql runs a script as one who gives it no options: it goes on after an error.
func psql(t *testing.T, url, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary(t, "psql"), "-X", "-q", url)
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
	return string(out)
}

// TestPrintOfAnOlderProgram: a script that lies about does not put its functions over those of a newer schema.
func TestPrintOfAnOlderProgram(t *testing.T) {
	t.Parallel()
	o := schema.Options{Dimensions: 8}
	url := stacktest.PostgresWith(t, o)
	if _, err := connect(t, url).Exec(t.Context(), `update aw_schema_version set version = 999;
		create or replace function aw_caller() returns text language sql as 'select ''newer''';
		create index jobs_unsent on jobs (created_at)`); err != nil {
		t.Fatal(err)
	}
	before := dump(t, url, "public")
	out := psql(t, url, printed(t, o))
	if !strings.Contains(out, "at version 999, newer than this script's") || !strings.Contains(out, "newer program") ||
		!strings.Contains(out, "first part of this script") {
		t.Errorf("psql: %.1000s", out)
	}
	if after := dump(t, url, "public"); after != before {
		t.Errorf("it changed the schema:\n%s", firstDifference(before, after))
	}
}

// TestPrintBesideSenders: when the script comes to drop an index that old bodies use, the new ones are there for everybody. A
// transaction that has read the queue writes to it while the script waits for it.
func TestPrintBesideSenders(t *testing.T) {
	t.Parallel()
	o := schema.Options{Dimensions: 8}
	url := stacktest.PostgresWith(t, o)
	watcher, sender := connect(t, url), connect(t, url)
	if _, err := watcher.Exec(t.Context(), `create index aw_queue_messages_due on aw_queue_messages (queue, visible_at);
		drop function aw_stats`); err != nil {
		t.Fatal(err)
	}
	tx, err := sender.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "select from aw_queue_messages"); err != nil {
		t.Fatal(err)
	}
	conn, script, done := connect(t, url), printed(t, o), make(chan error, 1)
	go func() {
		_, err := conn.Exec(t.Context(), script)
		done <- err
	}()
	awaitWaiting(t, watcher, done, "aw_queue_messages")
	var replaced bool
	if err := watcher.QueryRow(t.Context(), "select to_regproc('aw_stats') is not null").Scan(&replaced); err != nil || !replaced {
		t.Errorf("while it waits to drop an index, the functions are replaced: %v, %v", replaced, err)
	}
	if _, err := tx.Exec(t.Context(), `insert into aw_queue_messages (client_id, queue, part, visible_at, body)
		values ('a', 'a-tasks', 0, now(), 'x')`); err != nil {
		t.Errorf("a send beside the script: %v", err)
	}
	// It does not wait for long, and is safe to repeat.
	if err := <-done; err == nil || !strings.Contains(err.Error(), "lock timeout") {
		t.Errorf("beside a transaction that goes on: %v", err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	again := connect(t, url)
	for range 2 {
		if _, err := again.Exec(t.Context(), script); err != nil {
			t.Fatal(err)
		}
	}
	var dropped bool
	if err := again.QueryRow(t.Context(), "select to_regclass('aw_queue_messages_due') is null").Scan(&dropped); err != nil || !dropped {
		t.Errorf("the index is dropped: %v, %v", dropped, err)
	}
}
