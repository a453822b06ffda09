package supabase_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// TestTenancy tries every table and function of the API on another tenant's rows, with one tenant's key (I10).
func TestTenancy(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	api := stacktest.PostgREST(t, url)
	super, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = super.Close(context.Background()) })
	victim := storetest.NewVictim(t, func(t testing.TB, client string) store.Store {
		return open(t, api.URL, api.TenantKey(t, client), client)
	}, super)
	before := victim.Snapshot(t, super)

	request := func(key, method, path string, body any) (int, string) {
		t.Helper()
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), method, api.URL+"/rest/v1/"+path, bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Prefer", "return=representation")
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(answer)
	}
	refused := func(status int) bool { return status == http.StatusUnauthorized || status == http.StatusForbidden }
	mallory := api.TenantKey(t, "mallory")

	for _, table := range storetest.Tables {
		if status, body := request(mallory, "GET", table, nil); !refused(status) {
			t.Errorf("select from %s: %d %s", table, status, body)
		}
		if status, body := request(mallory, "PATCH", table+"?client_id=eq."+victim.Client,
			map[string]any{"client_id": "mallory"}); !refused(status) {
			t.Errorf("update of %s: %d %s", table, status, body)
		}
		if status, body := request(mallory, "DELETE", table+"?client_id=eq."+victim.Client, nil); !refused(status) {
			t.Errorf("delete from %s: %d %s", table, status, body)
		}
		if status, body := request(mallory, "POST", table, plant(t, table, victim)); !refused(status) ||
			!strings.Contains(body, "42501") {
			t.Errorf("insert into %s: %d %s", table, status, body)
		}
		for name, key := range map[string]string{"nobody": "", "a key of no tenant": api.TenantKey(t, "")} {
			if status, body := request(key, "GET", table, nil); !refused(status) {
				t.Errorf("%s selects from %s: %d %s", name, table, status, body)
			}
		}
	}
	if status, body := request(mallory, "PATCH", "aw_schema_version?version=gt.0",
		map[string]any{"version": 0}); !refused(status) {
		t.Errorf("update of the version: %d %s", status, body)
	}

	for fn, args := range victim.Calls() {
		status, body := request(mallory, "POST", "rpc/"+fn, map[string]any{"p": args})
		// Only functions call some of them.
		if inner := fn == "aw_lock_held_job" || fn == "aw_lock_for_heartbeat" || fn == "aw_lock_for_staging" ||
			fn == "aw_tenant"; status < 400 ||
			!strings.Contains(body, "AW004") && (!inner || !strings.Contains(body, "42501")) {
			t.Errorf("%s for another tenant: %d %s", fn, status, body)
		}
		if status, body := request("", "POST", "rpc/"+fn, map[string]any{"p": args}); !refused(status) {
			t.Errorf("%s without a key: %d %s", fn, status, body)
		}
		// The key's own tenant, the other's rows.
		var mine map[string]any
		if err := json.Unmarshal(args, &mine); err != nil {
			t.Fatal(err)
		}
		mine["client_id"] = "mallory"
		if _, body := request(mallory, "POST", "rpc/"+fn, map[string]any{"p": mine}); strings.Contains(body, "secret") {
			t.Errorf("%s: %s", fn, body)
		}
	}
	// Internal functions do not check the tenant, and can't be called.
	for fn, args := range map[string]map[string]any{
		"aw_drop_staged": {"client": victim.Client, "job": victim.Running.JobID},
		"aw_find":        {"client": victim.Client, "words": "secret", "vec": nil, "n": 10, "in_set": nil},
		"aw_matching": {
			"client": victim.Client, "all_words": "secret", "terms": "{secret}", "but": nil, "n": 10,
			"in_set": nil,
		},
		"aw_ranked":     {"client": victim.Client, "words": "secret", "but": nil, "n": 10, "in_set": nil},
		"aw_ranked_own": {"words": "secret", "but": nil, "n": 10, "in_set": nil},
		"aw_marks":      {"client": victim.Client, "question": "secret", "ids": []string{victim.Chunk}},
		"aw_marks_own":  {"question": "secret", "ids": []string{victim.Chunk}},
		"aw_rarity_own": {"question": "secret"},
		"aw_matching_own": {
			"all_words": "secret", "terms": "{secret}", "but": nil, "n": 10, "in_set": nil,
		},
		"aw_stage_vectors": {"p": victim.Calls()["aw_stage_chunks"], "vectors": "{}"},
		"aw_webhook": {
			"client": victim.Client, "job_id": "j", "task_type": "t", "url": "https://mallory.example",
			"state": "failed", "attempt": 1, "result": nil, "error": nil,
		},
		"aw_effect_activate_document": {
			"client": victim.Client, "job": victim.Running.JobID, "fence": 1,
			"args": map[string]any{"document_id": victim.Staged.DocumentID, "version": 1, "chunks": 1},
		},
		"aw_record_rejected_job": {
			"v_client": victim.Client,
			"p":        map[string]any{"job_id": "planted", "error": map[string]any{}},
		},
	} {
		if status, body := request(mallory, "POST", "rpc/"+fn, args); status < 400 || strings.Contains(body, "secret") {
			t.Errorf("%s: %d %s", fn, status, body)
		}
	}
	vector := "[" + strings.Repeat("0.1,", storetest.Dimensions-1) + "0.1]"
	for fn, args := range map[string]map[string]any{
		"match_document_chunks": {"query_embedding": vector, "match_count": 10},
		"hybrid_search": {
			"query_text": "secret", "query_embedding": vector, "match_count": 10,
			"document_set": nil,
		},
	} {
		if status, body := request(mallory, "POST", "rpc/"+fn, args); status != http.StatusOK || body != "[]" {
			t.Errorf("%s: %d %s", fn, status, body)
		}
		// The owner finds the active version only.
		status, body := request(api.TenantKey(t, victim.Client), "POST", "rpc/"+fn, args)
		if status != http.StatusOK || !strings.Contains(body, "the secret of the victim") ||
			strings.Contains(body, "next secret") {
			t.Errorf("%s for the owner: %d %s", fn, status, body)
		}
	}
	if after := victim.Snapshot(t, super); after != before {
		t.Errorf("I10: another tenant's rows changed:\n%s\n%s", before, after)
	}
}

// plant returns a row for a table that is valid except for its tenant.
func plant(t *testing.T, table string, v storetest.Victim) map[string]any {
	t.Helper()
	id := "00000000-0000-4000-8000-000000000001"
	rows := map[string]map[string]any{
		"jobs":       {"id": "planted", "type": "x"},
		"job_events": {"job_id": v.Running.JobID, "seq": 99, "id": id, "progress": 0, "attempt": 1},
		"dead_letters": {
			"rejected": true, "reason": "r", "error_class": "c", "error_message": "m", "attempts": 0,
			"original_message": "o",
		},
		"webhook_deliveries": {"id": "msg_1", "event": "task.failed", "url": "u", "body": "b"},
		"documents":          {"document_set": "s", "filename": "f", "blob": "b"},
		"document_versions":  {"document_id": v.Staged.DocumentID, "version": 9, "status": "superseded", "job_id": "j"},
		"document_chunks": {
			"document_id": v.Staged.DocumentID, "version": v.Staged.Version, "position": 9, "content": "c",
			"chunk_key": "k", "model": "m",
			"embedding": fmt.Sprintf("[%s1]", strings.Repeat("1,", storetest.Dimensions-1)),
		},
		"summaries":  {"job_id": "j", "filename": "f", "summary": "s", "model": "m"},
		"agent_runs": {"job_id": "j", "prompt": "p", "answer": "a", "model": "m"},
		"decks": {
			"id": id, "job_id": "j", "source_filename": "f", "title": "t", "slides": 1, "blob": "b",
		},
		"derived_contents": {"job_id": "j", "source_filename": "f", "blob": "b", "format": "md", "engine": "e"},
		"page_results":     {"source": "s", "reader": "r", "page": 2, "reading": "\\x00"},
		"page_result_jobs": {"job_id": "j", "source": "s"},
		"webhook_outages":  {"receiver": "r", "since": "2026-01-01T00:00:00Z", "probe_at": "2026-01-01T00:00:00Z"},
		"webhook_locks":    {},
		"event_publishers": {"tx": "1"},
		"schedules":        {"id": "planted", "cron": "@daily", "task": map[string]any{}},
		"cognee_targets":   {},
		"cognee_documents": {"document_id": id, "document_set": "s", "status": "pending"},
		"cognee_datasets":  {"document_set": "s", "dataset_id": "d"},
		"gateway_answers":  {"key": "planted", "source_sha256": "s", "mapping": "m", "mode": "direct"},
		"llm_checks":       {"job_id": "j", "confidence": 0.5, "verdict": "agrees", "model": "m"},
		"chunk_terms": {
			"chunk_id": id, "document_id": v.Staged.DocumentID, "language": "en", "words": 1, "terms": "'planted':1",
		},
		"term_parts":       {"part": 1},
		"term_counts":      {"term": "planted", "part": 1, "chunks": 1},
		"term_totals":      {"language": "en", "part": 1, "chunks": 1, "words": 1},
		"idempotency_keys": {"key": "k", "fingerprint": "f", "job_id": "j"},
		"aw_queues":        {"name": v.Client + "-tasks-low"},
		"aw_queue_messages": {
			"queue": v.Client + "-tasks", "part": 0, "visible_at": "2026-01-01T00:00:00Z", "body": "forged",
		},
		"partials": {
			"key": "p", "answer": "a", "prompt_tokens": 0, "completion_tokens": 0, "job_id": "j",
			"series": 1,
		},
	}
	row, ok := rows[table]
	if !ok {
		t.Fatalf("there is no row to plant in %s: add one", table)
	}
	row["client_id"] = v.Client
	return row
}
