package storetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Tables are all tables of the contract (docs/database.md) and the internal ones.
var Tables = []string{
	"jobs", "job_events", "dead_letters", "webhook_deliveries", "documents", "document_versions", "document_chunks",
	"summaries", "agent_runs", "derived_contents", "page_results", "page_result_jobs", "partials", "webhook_outages",
	"webhook_locks", "idempotency_keys", "aw_queues", "aw_queue_messages", "event_publishers",
	"schedules",
	"cognee_targets", "cognee_documents", "cognee_datasets",
	"gateway_answers", "llm_checks",
	"decks",
	"chunk_terms", "term_parts", "term_counts", "term_totals",
}

// Victim is a tenant with rows in every table, and a running job.
type Victim struct {
	Client   string
	Running  store.Holder
	BeginID  string              // of the begin of Running
	Staged   store.StagedVersion // by Running
	Failed   string              // id of a failed job
	Letter   string              // id of its dead letter
	Delivery store.Delivery
	Document string // id of one
	Chunk    string // and of its chunk
	Summary  string // id of one
	Key      string // of an idempotent request
	Fence    int64  // of the publisher
	Schedule string
	Cognee   store.CogneeDocument
	Claim    int64 // of Running, on an answer of the gateway
}

// NewVictim fills the tables of a tenant. superuser is a connection that bypasses the policies.
func NewVictim(t *testing.T, open Open, superuser *pgx.Conn) Victim {
	t.Helper()
	b := newBench(t, open)
	v := Victim{Client: b.client}
	b.openCognee()
	v.Document = b.ingest("secret.pdf", "the secret of the victim").DocumentID
	v.Cognee = b.toSend()
	v.Chunk = b.search(store.Query{Text: "secret"})[0].ChunkID
	m, h := b.run()
	v.Failed, v.Letter = m.JobID, b.fail(h, m).DeadLetter.ID
	v.Delivery = b.claimAll(hour)[0]
	m, v.Running = b.run()
	v.BeginID = m.ID
	var err error
	if v.Staged, err = b.StageDocument(b.ctx(), staging(v.Running, "next.pdf")); err != nil {
		t.Fatal(err)
	}
	b.stage(v.Running, v.Staged, "the next secret")
	if err := b.KeepPageResults(b.ctx(), store.PageSource{Source: "s", Reader: "r"},
		[]store.PageResult{{Page: 1, Reading: []byte("secret")}}); err != nil {
		t.Fatal(err)
	}
	if err := b.KeepPartials(b.ctx(), "j",
		[]store.Partial{{Key: "k", Answer: json.RawMessage(`"secret"`)}}); err != nil {
		t.Fatal(err)
	}
	request := once()
	v.Key = request.Key
	b.submitOnce(request)
	v.Fence = b.publisher("the victim's", hour)
	v.Schedule = b.schedule(store.Schedule{}).ID
	v.Claim = b.claimAnswer(v.Running, "asked", false).Claim
	v.Summary = uuid.NewString()
	_, err = superuser.Exec(b.ctx(), fmt.Sprintf(`
		insert into summaries (client_id, id, job_id, filename, summary, model) values ('%[1]s', '%[2]s', 'j', 'f', 'secret', 'm');
		insert into agent_runs (client_id, job_id, prompt, answer, model) values ('%[1]s', 'j', 'p', 'secret', 'm');
		insert into derived_contents (client_id, job_id, source_filename, source_sha256, recipe, blob, format, engine)
			values ('%[1]s', 'j', 'f', 'sha', 'r', 'secret', 'md', 'e');
		insert into decks (client_id, id, job_id, source_filename, title, slides, blob)
			values ('%[1]s', '%[2]s', 'j', 'f', 'secret', 1, 'secret');
		insert into page_result_jobs (client_id, job_id, source, filename) values ('%[1]s', 'j', 's', 'secret.pdf');
		insert into webhook_outages (client_id, receiver, since, probe_at) values ('%[1]s', 'secret.example', now(), now() + interval '1 day');
		insert into webhook_locks (client_id) values ('%[1]s');
		insert into cognee_datasets (client_id, document_set, dataset_id, changes, lease_expires_at)
			values ('%[1]s', 'contracts', 'secret', 1, now() + interval '1 day');
		insert into gateway_answers (client_id, key, source_sha256, mapping, mode, blob, expiring, used_at)
			values ('%[1]s', 'k', 's', 'm', 'direct', 'secret', false, now() - interval '1 day'),
				('%[1]s', 'old', 's', 'm', 'direct', 'gone', true, now());
		insert into llm_checks (client_id, job_id, confidence, verdict, model) values ('%[1]s', 'j', 0.5, 'secret', 'm');
		insert into aw_queues (client_id, name) values ('%[1]s', '%[1]s-tasks');
		insert into aw_queue_messages (client_id, queue, id, part, visible_at, receipt, body)
			values ('%[1]s', '%[1]s-tasks', '00000000-0000-0000-0000-000000000001', 0, now(), '00000000-0000-0000-0000-000000000002', 'secret')`,
		v.Client, v.Summary))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Snapshot returns all rows of the tenant as text; superuser reads them.
func (v Victim) Snapshot(t *testing.T, superuser *pgx.Conn) string {
	t.Helper()
	var all strings.Builder
	for _, table := range Tables {
		var rows string
		err := superuser.QueryRow(t.Context(),
			`select count(*) || coalesce(string_agg(md5(x::text), ' ' order by x::text), '')
			from `+table+` x where client_id = $1`, v.Client).Scan(&rows)
		if err != nil {
			t.Fatal(err)
		}
		if rows == "0" {
			t.Fatalf("the victim has no row in %s", table)
		}
		all.WriteString(table + ": " + rows + "\n")
	}
	return all.String()
}

// Calls returns arguments by function, as the victim's own worker would send them. Without the check of the tenant,
// each call would change or return the victim's rows.
func (v Victim) Calls() map[string]json.RawMessage {
	args := func(fields map[string]any) json.RawMessage {
		fields["client_id"] = v.Client
		b, err := json.Marshal(fields)
		if err != nil {
			panic(err) // plain maps
		}
		return b
	}
	held := func(fields map[string]any) json.RawMessage {
		fields["job_id"], fields["fence"] = v.Running.JobID, v.Running.Fence
		return args(fields)
	}
	tasks := v.Client + "-tasks"
	message := func(fields map[string]any) json.RawMessage {
		return args(with(fields, map[string]any{
			"queue": tasks, "id": "00000000-0000-0000-0000-000000000001", "receipt": "00000000-0000-0000-0000-000000000002",
		}))
	}
	failed := map[string]any{"class": "x", "code": "X", "message": "m", "type": "X"}
	job := map[string]any{
		"job_id": "planted", "type": "ingest", "payload": map[string]any{}, "fingerprint": "f", "max_attempts": 1,
		"lease_ms": 1000,
		"queue":    "q", "message": "m",
	}
	overdue := map[string]any{"unsent_for_ms": 0, "stalled_for_ms": 0, "unstarted_for_ms": 0, "again_after_ms": 0}
	return map[string]json.RawMessage{
		"aw_begin":          args(job),
		"aw_begin_new":      args(map[string]any{"begins": []any{with(job, nil)}}),
		"aw_begin_all":      args(map[string]any{"begins": []any{with(job, nil)}}),
		"aw_begin_pending":  args(map[string]any{"begins": []any{with(job, nil)}}),
		"aw_submit":         args(job),
		"aw_heartbeat":      held(map[string]any{"lease_ms": 1}),
		"aw_complete":       held(map[string]any{"result": map[string]any{"owned": true}}),
		"aw_fail":           held(map[string]any{"error": failed, "reason": "r"}),
		"aw_retry":          held(map[string]any{"error": failed, "after_ms": 1}),
		"aw_release":        held(map[string]any{}),
		"aw_canceled":       held(map[string]any{}),
		"aw_stage_document": held(map[string]any{"document_set": "s", "filename": "f", "blob": "b"}),
		"aw_stage_chunks": held(map[string]any{
			"document_id": v.Staged.DocumentID, "version": v.Staged.Version, "model": "m", "chunks": []any{},
		}),
		"aw_stage_terms": held(map[string]any{
			"document_id": v.Staged.DocumentID, "version": v.Staged.Version, "language": "en", "from": 0, "limit": 10,
		}),
		"aw_mark_sent":      args(map[string]any{"job_id": v.Running.JobID}),
		"aw_sweep":          args(with(overdue, map[string]any{"limit": 10})),
		"aw_resend":         held(with(overdue, map[string]any{"queue": "q", "message": "m"})),
		"aw_request_cancel": args(map[string]any{"job_id": v.Running.JobID, "by": "mallory"}),
		"aw_release_unanswered": args(map[string]any{
			"begins": []any{map[string]any{"job_id": v.Running.JobID, "begin_ids": []string{v.BeginID}}},
		}),
		"aw_canceling":        args(map[string]any{"attempts": []store.Holder{v.Running}}),
		"aw_reject":           args(map[string]any{"reason": "r", "error": failed, "original_message": "m"}),
		"aw_dead_letter_sent": args(map[string]any{"id": v.Letter}),
		"aw_plan_replay":      args(map[string]any{"id": v.Letter}),
		"aw_replay": args(with(job, map[string]any{
			"id": v.Letter, "replays": 0, "again": true, "job_id": v.Failed + ".r1",
		})),
		"aw_plan_requeue": args(map[string]any{"job_id": v.Failed}),
		"aw_requeue": args(with(job, map[string]any{
			"job_id": v.Failed, "fingerprint": "f1", "force": true,
		})),
		"aw_purge":            args(map[string]any{"ids": []string{v.Letter}, "unsent_for_ms": 0}),
		"aw_version_contexts": args(map[string]any{"document_id": v.Staged.DocumentID, "version": v.Staged.Version}),
		"aw_version_keys":     args(map[string]any{"document_id": v.Staged.DocumentID, "version": v.Staged.Version}),
		"aw_made_of":          args(map[string]any{"document_id": v.Staged.DocumentID}),
		"aw_remove_chunks":    args(map[string]any{"limit": 10}),
		"aw_collect":          args(map[string]any{"superseded_for_ms": 0, "abandoned_for_ms": 0, "limit": 10}),
		"aw_known_chunks":     args(map[string]any{"keys": []string{"key of the secret of the victim"}}),
		"aw_page_results_get": args(map[string]any{"source": "s", "reader": "r", "first": 1, "count": 10}),
		"aw_page_results_put": args(map[string]any{
			"source": "s", "reader": "r", "pages": []any{map[string]any{"page": 1, "reading": "Zm9yZ2Vk"}},
		}),
		"aw_expire_page_results": args(map[string]any{"older_than_ms": 0, "limit": 10}),
		"aw_partials_get":        args(map[string]any{"job_id": "j", "keys": []string{"k"}}),
		"aw_partials_put": args(map[string]any{
			"job_id": "j", "partials": []any{
				map[string]any{"key": "k", "answer": "forged", "prompt_tokens": 0, "completion_tokens": 0},
			},
		}),
		"aw_expire_partials": args(map[string]any{"older_than_ms": 0, "limit": 10}),
		"aw_gateway_claim": held(map[string]any{
			"key": "k", "source_sha256": "s", "mapping": "m", "mode": "direct",
		}),
		"aw_gateway_keep": held(map[string]any{
			"key": "asked", "claim": v.Claim, "blob": "forged", "sha256": "s", "bytes": 1, "http_status": 200, "gateway_ms": 1,
		}),
		"aw_gateway_expire": args(map[string]any{"older_than_ms": 0, "limit": 10}),
		"aw_gateway_forget": args(map[string]any{
			"answers": []any{map[string]any{"key": "old", "blob": "gone"}},
		}),
		"aw_derived": args(map[string]any{
			"job_id": "j", "source_filename": "f", "source_sha256": "sha", "recipe": "r",
		}),
		"aw_claim_deliveries": args(map[string]any{"worker": "w", "max": 10, "lease_ms": 1000}),
		"aw_extend_deliveries": args(map[string]any{
			"claims": []map[string]any{{"id": v.Delivery.ID, "fence": v.Delivery.Fence}}, "lease_ms": 0,
		}),
		"aw_settle_delivery": args(map[string]any{
			"id": v.Delivery.ID, "fence": v.Delivery.Fence, "status": "delivered",
		}),
		"aw_feed": args(map[string]any{
			"after": store.FeedPosition{Tx: 1}, "limit": 10, "jobs": []store.JobPosition{{JobID: v.Running.JobID}},
		}),
		"aw_put_schedule":    args(map[string]any{"id": v.Schedule, "change": true, "paused": true}),
		"aw_remove_schedule": args(map[string]any{"id": v.Schedule}),
		"aw_schedules":       args(map[string]any{"limit": 10}),
		"aw_due_schedules":   args(map[string]any{"limit": 10}),
		"aw_fire_schedule":   args(map[string]any{"id": v.Schedule, "job": job}),
		"aw_stop_schedule":   args(map[string]any{"id": v.Schedule, "problem": "mallory"}),
		"aw_open_publisher":  args(map[string]any{}),
		"aw_claim_publisher": args(map[string]any{"worker": "mallory", "lease_ms": 1000}),
		"aw_outgoing": args(map[string]any{
			"fence": v.Fence, "lease_ms": 1, "limit": 10, "max_bytes": 1 << 20, "max_result_bytes": 1 << 20,
		}),
		"aw_published":         args(map[string]any{"fence": v.Fence, "lease_ms": 0}),
		"aw_publisher_state":   args(map[string]any{}),
		"aw_expire_events":     args(map[string]any{"keep_ms": 0, "limit": 10}),
		"aw_expire_deliveries": args(map[string]any{"keep_ms": 0, "limit": 10}),
		"aw_expire_jobs":       args(map[string]any{"keep_ms": 0, "limit": 10}),
		"aw_document_at":       args(map[string]any{"document_set": "s", "blob": "b"}),
		"aw_compare_blobs":     held(map[string]any{"document_set": "s", "blobs": []any{map[string]any{"name": "b", "etag": "e"}}}),
		"aw_documents_under":   held(map[string]any{"document_set": "s", "prefix": "", "limit": 10}),
		"aw_submit_children":   held(map[string]any{"jobs": []any{job}}),
		"aw_wake":              args(map[string]any{"jobs": []string{v.Running.JobID}}),
		"aw_open_cognee":       args(map[string]any{}),
		"aw_close_cognee":      args(map[string]any{}),
		"aw_claim_cognee":      args(map[string]any{"worker": "w", "max": 10, "lease_ms": 1, "quiet_ms": 0, "gather_ms": 0}),
		"aw_extend_cognee":     args(map[string]any{"documents": []any{v.cognee()}, "lease_ms": 0}),
		"aw_cognee_text":       args(with(v.cognee(), map[string]any{"version": 1, "limit": 10})),
		"aw_settle_cognee":     args(with(v.cognee(), map[string]any{"outcome": "replaced"})),
		"aw_settle_cognify":    args(map[string]any{"document_set": "contracts", "fence": 0, "outcome": "done"}),
		"aw_cognee_state":      args(map[string]any{}),
		"aw_retry_cognee":      args(map[string]any{}),
		"aw_cognee_index":      args(map[string]any{"limit": 10}),
		"aw_requeue_cognee": args(map[string]any{
			"documents": []any{map[string]any{"document_id": v.Document}}, "before": "2100-01-01T00:00:00Z",
		}),
		"aw_cognee_gone": args(map[string]any{"ids": []string{v.Document}}),
		"aw_submit_once": args(with(job, map[string]any{
			"idempotency": map[string]any{"key": v.Key, "fingerprint": "r", "keep_ms": 3600000},
		})),
		"aw_forget_keys": args(map[string]any{"older_than_ms": 0, "limit": 10}),
		"aw_result":      args(map[string]any{"kind": "summary", "id": v.Summary}),
		"aw_stats":       args(map[string]any{"within_ms": 3600000}),
		"aw_outcomes": args(map[string]any{
			"windows": []any{map[string]any{"within_ms": 3600000, "buckets": 60}}, "most": 100,
		}),
		"aw_overview":          args(map[string]any{"within_ms": 3600000, "most": 100}),
		"aw_find_jobs":         args(map[string]any{"limit": 10, "most": 100}),
		"aw_job_counts":        args(map[string]any{"most": 100}),
		"aw_job_context":       args(map[string]any{"id": v.Failed}),
		"aw_letter_groups":     args(map[string]any{"most": 100}),
		"aw_document_sets":     args(map[string]any{"most": 100}),
		"aw_document_versions": args(map[string]any{"id": v.Document, "most": 10}),
		"aw_hold_document":     held(map[string]any{"most": 1}),
		"aw_outbox":            args(map[string]any{}),
		"aw_job":               args(map[string]any{"id": v.Running.JobID}),
		"aw_jobs":              args(map[string]any{"limit": 10}),
		"aw_events":            args(map[string]any{"job_id": v.Running.JobID, "after": 0, "limit": 10}),
		"aw_dead_letter":       args(map[string]any{"id": v.Letter}),
		"aw_dead_letters":      args(map[string]any{"limit": 10}),
		"aw_deliveries":        args(map[string]any{"job_id": v.Running.JobID}),
		"aw_list_deliveries":   args(map[string]any{"limit": 10}),
		"aw_resend_delivery":   args(map[string]any{"id": v.Delivery.ID, "delivered": true}),
		"aw_search":            args(map[string]any{"text": "secret", "limit": 10}),
		"aw_rarity":            args(map[string]any{"text": "clause"}), // its answer repeats the words
		"aw_documents":         args(map[string]any{"limit": 10}),
		"aw_outlines":          args(map[string]any{"document": "secret.pdf"}),
		"aw_passages":          args(map[string]any{"ids": []string{v.Chunk}, "limit": 10}),
		"aw_document_passages": args(map[string]any{"document_id": v.Document, "from": 0, "limit": 10}),
		"aw_complete_all": args(map[string]any{"completions": []any{
			map[string]any{
				"job_id": v.Running.JobID, "fence": v.Running.Fence, "result": map[string]any{"owned": true},
			},
		}}),
		"aw_check":   args(map[string]any{}),
		"aw_enqueue": args(map[string]any{"task_id": "planted", "task_type": "ingest", "payload": map[string]any{}}),
		"aw_enqueue_all": args(map[string]any{"tasks": []any{
			map[string]any{"task_id": "planted2", "task_type": "ingest", "payload": map[string]any{}},
		}}),
		"aw_queue_ensure":  args(map[string]any{"queue": tasks + "-low"}),
		"aw_queue_send":    args(map[string]any{"queue": tasks, "text": "forged"}),
		"aw_queue_receive": args(map[string]any{"queue": tasks, "n": 1, "visibility_ms": 1000}),
		"aw_queue_peek":    args(map[string]any{"queue": tasks, "n": 1}),
		"aw_queue_depth":   args(map[string]any{"queue": tasks}),
		"aw_queue_extend":  message(map[string]any{"visibility_ms": 1000}),
		"aw_queue_release": message(map[string]any{"delay_ms": 0}),
		"aw_queue_delete":  message(map[string]any{}),
		"aw_queue_delete_all": args(map[string]any{"queue": tasks, "messages": []any{map[string]any{
			"id": "00000000-0000-0000-0000-000000000001", "receipt": "00000000-0000-0000-0000-000000000002",
		}}}),
		"aw_queue_tidy":         args(map[string]any{}),
		"aw_examine":            args(map[string]any{"functions": []string{"aw_begin"}}),
		"aw_lock_held_job":      held(map[string]any{}),
		"aw_lock_for_staging":   held(map[string]any{}),
		"aw_lock_for_heartbeat": held(map[string]any{}),
		"aw_tenant":             args(map[string]any{}),
	}
}

// with returns the fields of both.
func with(fields, more map[string]any) map[string]any {
	all := maps.Clone(fields)
	maps.Copy(all, more)
	return all
}

// cognee names the victim's claim of a document for Cognee.
func (v Victim) cognee() map[string]any {
	return map[string]any{"document_id": v.Cognee.DocumentID, "fence": v.Cognee.Fence}
}
