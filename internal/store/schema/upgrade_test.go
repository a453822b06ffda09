package schema_test

import (
	"bytes"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// TestUpgrade: a database that is in use, with all functions and rows in its tables, takes the migrations since
// version 5, by migrate and by its printed script.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	o := schema.Options{Dimensions: 8}
	for name, upgrade := range map[string]func(t *testing.T, url string) error{
		"migrate": func(t *testing.T, url string) error {
			_, err := schema.Migrate(t.Context(), url, o)
			return err
		},
		"printed": func(t *testing.T, url string) error {
			var script bytes.Buffer
			if err := schema.Print(&script, o); err != nil {
				return err
			}
			_, err := connect(t, url).Exec(t.Context(), script.String())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := stacktest.PostgresWith(t, o)
			conn := connect(t, url)
			if _, err := conn.Exec(t.Context(), `insert into jobs (client_id, id, type) values ('a', 'j', 'x');
				alter table jobs drop column replay cascade, drop column begin_id cascade, drop column releases cascade,
				  drop column waiting_since cascade, -- the functions that know it go, others stay
				  drop column error_type cascade, drop column retry_count cascade, drop column processing_time_ms cascade,
				  drop column worker_id cascade, drop column retry_wait_ms cascade;
				alter table dead_letters drop column error_type cascade, drop column retry_count cascade,
				  drop column processing_time_ms cascade, drop column worker_id cascade;
				drop table page_results, page_result_jobs, partials, webhook_outages, webhook_locks,
				  aw_queues, aw_queue_messages;
				alter table webhook_deliveries drop column waits_for cascade, drop column host cascade,
				  drop column scheduled_at cascade, drop column waits_since cascade;
				drop function aw_set_delivery_host cascade;
				alter table job_events drop column tx cascade;
				alter table jobs drop column run_at cascade, drop column document cascade;
				drop table idempotency_keys, event_publishers, schedules, cognee_targets, cognee_documents, cognee_datasets,
				  gateway_answers, llm_checks, decks cascade;
				alter table jobs drop column document_fence cascade;
				alter table jobs drop column events_removed_to cascade, drop column webhook_events cascade,
				  drop column progress_webhook_at cascade;
				alter table dead_letters drop column tx cascade;
				alter table webhook_deliveries drop column once cascade, drop column attempts_before cascade,
				  drop column earlier cascade;
				alter table documents drop column source_modified cascade;
				drop index documents_by_blob, documents_in_order, jobs_by_parent, document_versions_active_by_job;
				drop index if exists jobs_waiting, dead_letters_open, jobs_without_events, jobs_with_events;
				drop index document_versions_by_content;
				alter type document_chunk_hit drop attribute matched cascade;
				alter table summaries drop column blob, drop column source_sha256, drop column style, drop column language, drop column max_words,
				  drop column extractive, drop column unverified, drop column left_out, drop column prompt_tokens,
				  drop column completion_tokens, drop column requested_by;
				drop index summaries_by_file;
				alter table agent_runs drop column task_type, drop column document_set, drop column requested_by, drop column prompt_tokens,
				  drop column completion_tokens, drop column retrieval_only, drop column details;
				alter table document_versions drop column page_log cascade, drop column tokens cascade, drop column changes cascade,
				  drop column warnings cascade;
				alter table jobs drop column received cascade, drop column queued_at cascade,
					drop column lost_worker cascade, drop column lost_before cascade, drop column lost_fence cascade,
					drop column first_queued_at cascade;
				drop index dead_letters_by_job;
				alter table derived_contents drop column version cascade, drop column source_blob, drop column source_sha256,
				  drop column recipe, drop column mean_confidence, drop column unread_pages;
				insert into derived_contents (client_id, job_id, source_filename, blob, format, engine)
				  values ('a', 'j', 'f', 'b', 'md', 'e'), ('a', 'j', 'f', 'b', 'md', 'e'), ('b', 'j', 'f', 'b', 'md', 'e');
				alter table documents drop column language cascade, drop column outline, drop column properties, drop column personal_data;
				alter table document_chunks drop column language, drop column context, drop column context_by;
				alter table document_versions drop column contexts cascade, drop column terms_staged cascade, drop column terms_renewed cascade;
				drop table chunk_terms, term_parts, term_counts, term_totals cascade;
				alter table documents drop column terms_version cascade, drop column chunks_left cascade, drop column terms_renewed cascade,
				  drop column task_sent_at cascade, drop column task_job_id cascade;
				alter table dead_letters drop column replayed_by cascade, drop column replays cascade;
				create index jobs_unsent on jobs (created_at);
				update pg_index set indisvalid = false where indexrelid = 'jobs_newest'::regclass; -- its build was cut off
				update aw_schema_version set version = 5`); err != nil {
				t.Fatal(err)
			}
			if err := upgrade(t, url); err != nil {
				t.Fatalf("from version 5: %v", err)
			}
			var version, replay, newest int
			var valid bool
			if err := conn.QueryRow(t.Context(),
				`select version, (select replay from jobs), (select max(version) from derived_contents where client_id = 'a'),
				  (select indisvalid from pg_index where indexrelid = 'jobs_newest'::regclass)
				from aw_schema_version`).Scan(&version, &replay, &newest, &valid); err != nil {
				t.Fatal(err)
			}
			if version != schema.Version() || replay != 0 || newest != 2 || !valid {
				t.Errorf("version %d, replay %d, derived content %d, a valid index %v after the upgrade", version, replay, newest, valid)
			}
			if _, err := schema.Migrate(t.Context(), url, o); err != nil { // the functions are all there
				t.Error(err)
			}
		})
	}
}

// TestUpgradeInAnOutage: what waits at the upgrade has waited since its outage began, or since it was created.
func TestUpgradeInAnOutage(t *testing.T) {
	t.Parallel()
	o := schema.Options{Dimensions: 8}
	url := stacktest.PostgresWith(t, o)
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), `alter table webhook_deliveries drop column waits_since cascade;
		alter table jobs drop column first_queued_at cascade;
		alter table documents drop column task_sent_at cascade, drop column task_job_id cascade;
		insert into webhook_outages (client_id, receiver, since, probe_at) values ('a', 'down.example', now() - interval '10 h', now());
		insert into webhook_deliveries (client_id, id, event, url, body, created_at, next_attempt_at, waits_for)
		select 'a', id, 'task.failed', 'https://' || host || '/', '{}', now() - age, now() + interval '76 h' - age, nullif(host, 'up.example')
		from (values ('older', 'down.example', interval '70 h'), ('younger', 'down.example', '3 h'), ('ended', 'back.example', '5 h'),
			('due', 'up.example', '1 h')) x(id, host, age);
		update aw_schema_version set version = 55`); err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Migrate(t.Context(), url, o); err != nil {
		t.Fatal(err)
	}
	var waits string
	if err := conn.QueryRow(t.Context(), `select string_agg(format('%s %s of %s', id,
			coalesce(round(extract(epoch from now() - waits_since) / 3600)::text, 'no'),
			round(extract(epoch from next_attempt_at - coalesce(waits_since, created_at)) / 3600)), ', ' order by id)
		from webhook_deliveries`).Scan(&waits); err != nil {
		t.Fatal(err)
	}
	if want := "due no of 76, ended 5 of 76, older 10 of 76, younger 3 of 76"; waits != want {
		t.Errorf("hours of waiting: %s; want %s", waits, want)
	}
}

// TestUpgradeLettersOfRemovedJobs: a dead letter is not that of a job which has the id of a removed one.
func TestUpgradeLettersOfRemovedJobs(t *testing.T) {
	t.Parallel()
	owner, super := ownedDatabase(t)
	o := schema.Options{Dimensions: 8}
	if _, err := schema.Migrate(t.Context(), owner, o); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, super)
	for name, url := range map[string]string{"an owner": owner, "a superuser": super} {
		if _, err := conn.Exec(t.Context(), `truncate jobs, dead_letters cascade;
			insert into jobs (client_id, id, type, status, attempts, max_attempts, created_at, completed_at) values
			  ('a', 'stays', 'ingest', 'failed', 1, 3, now() - interval '100 days', now() - interval '99 days'),
			  ('a', 'again', 'ingest', 'running', 3, 3, now(), null),
			  ('a', 'redone', 'ingest', 'running', 3, 3, now() - interval '50 days', null),
			  ('a', 'open', 'ingest', 'failed', 1, 3, now() - interval '100 days', now() - interval '99 days');
			insert into dead_letters (client_id, job_id, series, rejected, reason, error_class, error_message, attempts,
			  original_message, created_at, replayed_at)
			select 'a', id, 1, false, 'permanent', 'unsupported_format', 'm', 1, '{}', now() - interval '99 days',
			  case id when 'redone' then now() - interval '49 days' when 'open' then null else now() - interval '98 days' end
			from unnest(array['stays', 'again', 'redone', 'gone', 'open']) id;
			update aw_schema_version set version = 57`); err != nil {
			t.Fatal(err)
		}
		if _, err := schema.Migrate(t.Context(), url, o); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var letters string
		var forced bool
		if err := conn.QueryRow(t.Context(), `
			select string_agg(job_id || ' ' || coalesce(series::text, 'none'), ', ' order by job_id), (
			  select bool_and(relforcerowsecurity) from pg_class where oid in ('jobs'::regclass, 'dead_letters'::regclass))
			from dead_letters`).Scan(&letters, &forced); err != nil {
			t.Fatal(err)
		}
		if want := "again none, gone none, open 1, redone none, stays 1"; letters != want || !forced {
			t.Errorf("%s: the series of the dead letters: %s; want %s; forced row-level security: %t", name, letters, want, forced)
		}
	}
}
