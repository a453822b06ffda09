package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// tellPlans makes the functions that run as their owner send their log to the session.
func tellPlans(t *testing.T, super *pgx.Conn) {
	t.Helper()
	if _, err := super.Exec(t.Context(), `do $$ declare f regprocedure; begin
		for f in select oid from pg_proc where prosecdef and pronamespace = 'public'::regnamespace loop
			execute format('alter function %s reset client_min_messages', f);
		end loop; end $$`); err != nil {
		t.Fatal(err)
	}
}

// lost begins jobs under leases that end at once: each is a job and its worker.
func lost(begins ...string) string {
	for i, b := range begins {
		id, worker, _ := strings.Cut(b, " ")
		begins[i] = fmt.Sprintf(`aw_begin('{"client_id":"a","job_id":%q,"worker":%q,"type":"t","payload":{},"fingerprint":"f",
			"max_attempts":9,"lease_ms":0}')`, id, worker)
	}
	return strings.Join(begins, ", ")
}

// staged begins a job, and stages a version of a document.
const staged = `aw_stage_document('{"client_id":"a","job_id":"d","fence":1,"document_set":"s","filename":"x.pdf","blob":"x.pdf"}'::jsonb ||
	jsonb_build_object('begun', aw_begin_all('{"client_id":"a","begins":[{"job_id":"d","type":"t","payload":{},"fingerprint":"f",
		"max_attempts":1,"lease_ms":1000}]}')))`

// TestFrequentCallsUseIndexes: the calls of an idle worker, and its frequent calls, do not scan a table. Under
// row-level security Postgres does not use an index for an expression that is not leakproof.
func TestFrequentCallsUseIndexes(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	tellPlans(t, connect(t, url))
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	var plans strings.Builder
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { plans.WriteString(n.Message + "\n") }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	// In a small table a scan is cheap. With scans turned off, Postgres scans only if it can't use an index.
	if _, err := conn.Exec(t.Context(), `load 'auto_explain'; set auto_explain.log_min_duration = 0;
		set auto_explain.log_nested_statements = on; set client_min_messages = log; set enable_seqscan = off;
		set role async_worker; set app.client_id = 'a'`); err != nil {
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		`aw_canceling('{"client_id":"a","attempts":[{"job_id":"x","fence":1},{"job_id":"y","fence":1}]}')`:                                                                        "Index Cond: ((id = a.job_id)",
		`aw_sweep('{"client_id":"a","limit":50,"unsent_for_ms":1000,"stalled_for_ms":1000,"unstarted_for_ms":1000,"again_after_ms":1000}')`:                                       "jobs_unsent_now",
		`aw_sweep('{"client_id":"a","limit":51,"unsent_for_ms":1000,"stalled_for_ms":1000,"unstarted_for_ms":1000,"again_after_ms":1000}')`:                                       "jobs_unsent_later",
		`aw_submit_once('{"client_id":"a","job_id":"l","type":"t","max_attempts":1,"queue":"q","message":"m","fingerprint":"f","run_at":"2999-01-01T00:00:00Z","most_later":1}')`: "jobs_unsent_later",
		`aw_passages('{"client_id":"a","limit":10,"around":1,"ids":["00000000-0000-4000-8000-000000000000"]}')`:                                                                   "document_chunks_pkey",
		`aw_document_passages('{"client_id":"a","limit":10,"from":0,"document_id":"00000000-0000-4000-8000-000000000000"}')`:                                                      "document_chunks_document_id_version_position_client_id_key",
		`aw_outlines('{"client_id":"a","document_set":"s","document":"x.pdf"}')`:                                                                                                  `("position" = `,
		`aw_documents('{"client_id":"a","limit":10,"after":{"filename":"a","document_set":"s"}}')`:                                                                                "documents_filename_document_set_client_id_key",
		`aw_claim_deliveries('{"client_id":"a","worker":"w","max":10,"lease_ms":1000}')`:                                                                                          "webhook_deliveries_due",
		`aw_jobs('{"client_id":"a","limit":10,"parent":"x"}')`:                                                                                                                    "jobs_children",
		`aw_list_deliveries('{"client_id":"a","limit":10}')`:                                                                                                                      "webhook_deliveries_by_age",
		`aw_release_unanswered('{"client_id":"a","begins":[{"job_id":"x","begin_ids":["b"]}]}')`:                                                                                  "jobs_pkey",
		lost("x w1", "y w1", "x w2"):                 "jobs_by_status on jobs o",           // aw_loss_counts
		lost("x w1", "y w1", "x w2", "y w2", "x w3"): `(lost_before && '{w1,w2}'::text[])`, // aw_shares_loss is inlined
		`aw_outbox('{"client_id":"a"}')`:             "webhook_deliveries_due",
		`id from processing_jobs`:                    "Index Cond: (client_id = $",
		`aw_outcomes('{"client_id":"a","windows":[{"within_ms":3600000,"buckets":60}],"most":100}')`:                 "jobs_ended",
		`aw_overview('{"client_id":"a","within_ms":1000,"most":100}')`:                                               "jobs_waiting",
		`aw_find_jobs('{"client_id":"a","limit":10,"most":100}')`:                                                    "jobs_newest",
		`aw_find_jobs('{"client_id":"a","limit":10,"most":100,"status":"failed"}')`:                                  "jobs_newest",
		`aw_find_jobs('{"client_id":"a","limit":10,"most":100,"parent":"x"}')`:                                       "jobs_children",
		`aw_job_counts('{"client_id":"a","most":100}')`:                                                              "jobs_by_status",
		`aw_dead_letters('{"client_id":"a","limit":1,"job_id":"x"}')`:                                                "dead_letters_by_job",
		`aw_job_counts('{"client_id":"a","most":101}')`:                                                              "jobs_ended",
		`aw_letter_groups('{"client_id":"a","most":100}')`:                                                           "dead_letters_open",
		`aw_document_sets('{"client_id":"a","most":100}')`:                                                           "documents_filename_document_set_client_id_key",
		`aw_feed('{"client_id":"a","after":{"tx":"1","job_id":"x","seq":1,"at":"2026-01-01T00:00:00Z"},"jobs":[]}')`: `ROW(tx, (job_id)::text, seq) > `,
		`aw_feed('{"client_id":"a","jobs":[{"job_id":"x","seq":1}]}')`:                                               "Index Cond: ((job_id = w.job_id)",
		`aw_outgoing('{"client_id":"a","lease_ms":1000,"limit":10,"max_bytes":1000,"max_result_bytes":1000}'::jsonb ||
			aw_claim_publisher('{"client_id":"a","worker":"w","lease_ms":1000}'))`: `dead_letters_by_tx`,
		`aw_begin_all('{"client_id":"a","begins":[{"job_id":"y","type":"t","fingerprint":"f","max_attempts":1,"lease_ms":1000}]}')`: `Index Cond: ((id = r.job_id)`,
		`aw_begin_all('{"client_id":"a","begins":[{"job_id":"y","type":"t","payload":{},"fingerprint":"f","max_attempts":1,"lease_ms":1000}]}'::jsonb ||
			aw_enqueue('{"task_id":"y","task_type":"t","payload":{}}'))`: `Tid Scan on jobs u`,
		`aw_complete_all('{"client_id":"a","completions":[{"job_id":"z","fence":1}]}'::jsonb || jsonb_build_object('begun',
			aw_begin_all('{"client_id":"a","begins":[{"job_id":"z","type":"t","fingerprint":"f","max_attempts":1,"lease_ms":1000}]}')))`: `Tid Scan on jobs u`,
		`aw_compare_blobs('{"client_id":"a","job_id":"z","fence":1,"document_set":"s","blobs":[{"name":"b","etag":"e"}]}'::jsonb || jsonb_build_object('begun',
			aw_begin_all('{"client_id":"a","begins":[{"job_id":"z","type":"t","fingerprint":"f","max_attempts":1,"lease_ms":1000}]}')))`: `Index Cond: ((document = `,
		`aw_queue_delete_all('{"client_id":"a","queue":"q","messages":[{"id":"00000000-0000-4000-8000-000000000000"}]}')`: `Index Cond: ((id = r.id)`,
		`aw_claim_cognee('{"client_id":"a","worker":"w","max":10,"lease_ms":1000,"quiet_ms":1,"gather_ms":1}')`:           `cognee_documents_next`,
		`aw_cognee_state('{"client_id":"a"}')`:                                                   `cognee_documents_left`,
		`aw_publisher_state('{"client_id":"a"}')`:                                                `event_publishers_pkey`,
		`aw_open_publisher('{"client_id":"a"}'); select aw_publisher_state('{"client_id":"a"}')`: `dead_letters_by_tx`,
		`aw_expire_events('{"client_id":"a","keep_ms":1,"limit":10}')`:                           `jobs_with_events`,
		`aw_gateway_expire('{"client_id":"a","older_than_ms":1,"limit":10}')`:                    `gateway_answers_by_age`,
		`aw_complete('{"client_id":"a","job_id":"d","fence":1}'::jsonb || jsonb_build_object('effects', jsonb_build_array(
			jsonb_build_object('kind', 'delete_document', 'args', ` + staged + `))))`: "agent_runs_citing",
	} {
		plans.Reset()
		if _, err := conn.Exec(t.Context(), fmt.Sprintf("begin; select %s; rollback", call)); err != nil {
			t.Fatal(err)
		}
		got := plans.String()
		if !strings.Contains(got, "Query Text") || !strings.Contains(got, want) ||
			strings.Contains(got, "Seq Scan on job") ||
			strings.Contains(got, "Seq Scan on webhook_deliveries") || strings.Contains(got, "Seq Scan on document") ||
			strings.Contains(got, "Seq Scan on dead_letters") || strings.Contains(got, "Seq Scan on agent_runs") {
			t.Errorf("%s:\n%s", call, got)
		}
	}
}
