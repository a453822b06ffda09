package schema_test

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// TestMigrateBesideWorkers: a migration that deadlocks with a worker's transaction, and is the one that Postgres ends, is
// done again. Workers go on working while migrate runs.
func TestMigrateBesideWorkers(t *testing.T) {
	t.Parallel()
	o := schema.Options{Dimensions: 8}
	url := stacktest.PostgresWith(t, o)
	watcher, worker := connect(t, url), connect(t, url)
	if _, err := watcher.Exec(t.Context(), `alter table chunk_terms drop column version cascade;
		alter table document_versions drop column terms_staged cascade, drop column terms_renewed cascade;
		alter table documents drop column chunks_left cascade, drop column terms_renewed cascade,
		  drop column task_sent_at cascade, drop column task_job_id cascade;
		alter table webhook_deliveries drop column host cascade;
		drop function aw_set_delivery_host cascade;
		drop index aw_queue_messages_unreceived, aw_queue_messages_received;
		create index aw_queue_messages_due on aw_queue_messages (queue, visible_at);
		alter table jobs drop column queued_at cascade;
		drop index jobs_unsent_now, jobs_unsent_later;
		alter table jobs drop column lost_worker cascade, drop column lost_before cascade, drop column lost_fence cascade,
		  drop column first_queued_at cascade;
		alter table document_versions drop column warnings cascade;
		alter table webhook_deliveries drop column scheduled_at cascade, drop column waits_since cascade;
		update aw_schema_version set version = 42`); err != nil {
		t.Fatal(err)
	}
	// As a worker that has the later table already. Only the migration looks for deadlocks soon.
	tx, err := worker.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "set local deadlock_timeout = '1min'; lock table chunk_terms in access share mode"); err != nil {
		t.Fatal(err)
	}
	migrated := make(chan error, 1)
	go func() {
		_, err := schema.Migrate(t.Context(), url+"&options=-c%20deadlock_timeout%3D2s", o)
		migrated <- err
	}()
	awaitWaiting(t, watcher, migrated, "chunk_terms")
	if _, err := tx.Exec(t.Context(), "lock table document_versions in access share mode"); err != nil {
		t.Logf("the worker was ended instead: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Errorf("migrate beside a worker: %v", err)
	}
}

// TestMigrateBesideSenders: a transaction that has read the queue, as a send does first, writes to it while a migration
// waits to replace its index.
func TestMigrateBesideSenders(t *testing.T) {
	t.Parallel()
	o := schema.Options{Dimensions: 8}
	url := stacktest.PostgresWith(t, o)
	watcher, sender := connect(t, url), connect(t, url)
	if _, err := watcher.Exec(t.Context(), `drop index aw_queue_messages_unreceived, aw_queue_messages_received;
		create index aw_queue_messages_due on aw_queue_messages (queue, visible_at);
		alter table jobs drop column queued_at cascade;
		drop index jobs_unsent_now, jobs_unsent_later;
		alter table jobs drop column lost_worker cascade, drop column lost_before cascade, drop column lost_fence cascade,
		  drop column first_queued_at cascade;
		alter table document_versions drop column warnings cascade;
		alter table webhook_deliveries drop column scheduled_at cascade, drop column waits_since cascade;
		alter table documents drop column task_sent_at cascade, drop column task_job_id cascade;
		update aw_schema_version set version = 46`); err != nil {
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
	migrated := make(chan error, 1)
	go func() { // only the sender looks for deadlocks soon
		_, err := schema.Migrate(t.Context(), url+"&options=-c%20deadlock_timeout%3D1min", o)
		migrated <- err
	}()
	awaitWaiting(t, watcher, migrated, "aw_queue_messages")
	_, err = tx.Exec(t.Context(), `insert into aw_queue_messages (client_id, queue, part, visible_at, body)
		values ('a', 'a-tasks', 0, now(), 'x')`)
	if err == nil {
		err = tx.Commit(t.Context())
	} else {
		_ = tx.Rollback(t.Context())
	}
	if err != nil {
		t.Errorf("a send beside a migration: %v", err)
	}
	if err := <-migrated; err != nil {
		t.Errorf("migrate beside a send: %v", err)
	}
	var left string
	if err := watcher.QueryRow(t.Context(), `select string_agg(substr(x, 19), ' ' order by x) from (
		select indexrelid::regclass::text as x from pg_index where indrelid = 'aw_queue_messages'::regclass) y`).Scan(&left); err != nil || left != "pkey received unreceived" {
		t.Errorf("the indexes are %s, %v", left, err)
	}
}
