package postgres_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// locks is a store, and a superuser's transaction that holds locks.
type locks struct {
	*testing.T
	store.Store
	url string
	tx  pgx.Tx
}

func newLocks(t *testing.T) *locks {
	t.Helper()
	l := &locks{T: t, url: stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})}
	l.Store = open(t, l.url, "acme")
	t.Cleanup(l.Close)
	tx, err := connect(t, l.url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.tx = tx
	return l
}

func (l *locks) begin(id string) store.Holder { return l.beginAs(id, "") }

func (l *locks) beginAs(id, beginID string) store.Holder {
	l.Helper()
	b, err := l.Begin(l.Context(), store.Begin{
		Task: store.Task{
			JobID: id, Type: "ingest", Payload: json.RawMessage(`{}`), Hints: json.RawMessage(`{}`), Fingerprint: id,
			MaxAttempts: 3,
		},
		Worker: "w", Lease: time.Hour, Source: store.Source{Queue: "q", MessageID: id}, ID: beginID,
	})
	if err != nil || b.Decision != store.Run {
		l.Fatalf("begin: %+v, %v", b, err)
	}
	return store.Holder{JobID: id, Fence: b.Fence}
}

func (l *locks) stageDocument(h store.Holder) (store.StagedVersion, error) {
	return l.StageDocument(l.Context(), store.Staging{Holder: h, DocumentSet: "s", Filename: "a.pdf", Blob: "a.pdf"})
}

func (l *locks) exec(sql string) {
	l.Helper()
	if _, err := l.tx.Exec(l.Context(), sql); err != nil {
		l.Fatalf("%s: %v", sql, err)
	}
}

func (l *locks) commit() {
	l.Helper()
	if err := l.tx.Commit(l.Context()); err != nil {
		l.Fatal(err)
	}
}

// blocked runs f concurrently and returns when the database reports that it waits for the transaction.
func (l *locks) blocked(f func() error) <-chan error {
	l.Helper()
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	watch := connect(l.T, l.url)
	for {
		var waiting int
		err := watch.QueryRow(l.Context(), `select count(*) from pg_stat_activity
			where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`).Scan(&waiting)
		if err != nil {
			l.Fatal(err)
		}
		if waiting > 0 {
			return ended
		}
		select {
		case err := <-ended:
			l.Fatalf("it did not wait: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// TestEndAndStagingDoNotDeadlock: the end of a job and the staging of its document lock in the same order, the document
// before its versions.
func TestEndAndStagingDoNotDeadlock(t *testing.T) {
	t.Parallel()
	l := newLocks(t)
	h := l.begin("job-1")
	if _, err := l.stageDocument(h); err != nil {
		t.Fatal(err)
	}
	l.exec("select from documents for update") // as aw_stage_document of another job does
	ended := l.blocked(func() error {
		_, err := l.Fail(l.Context(), store.Failure{
			Holder: h, Error: store.ErrorInfo{Class: "timeout", Message: "m"}, Reason: "timeout",
		})
		return err
	})
	l.exec("delete from document_versions") // and then it removes abandoned versions
	l.commit()
	if err := <-ended; err != nil {
		t.Errorf("the end of the other job: %v", err)
	}
}

// TestStagingOfADeletedDocument: a document that is deleted while another job stages it is created again.
func TestStagingOfADeletedDocument(t *testing.T) {
	t.Parallel()
	l := newLocks(t)
	first := l.begin("job-1")
	if _, err := l.stageDocument(first); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Heartbeat(t.Context(), store.Heartbeat{Holder: first}); err != nil { // with a lease of zero
		t.Fatal(err)
	}
	h := l.begin("job-2")
	l.exec("select from documents for update")
	ended := l.blocked(func() error { _, err := l.stageDocument(h); return err })
	l.exec("delete from document_versions")
	l.exec("delete from documents")
	l.commit()
	if err := <-ended; err != nil {
		t.Errorf("opening the document: %v", err)
	}
}

// TestLateTermsGo: a job whose lease has ended makes terms of its staged chunks while another job takes the document. They go
// with the chunks.
func TestLateTermsGo(t *testing.T) {
	t.Parallel()
	l := newLocks(t)
	h := l.begin("job-1")
	staged, err := l.stageDocument(h)
	if err != nil {
		t.Fatal(err)
	}
	if missing, err := l.StageChunks(t.Context(), store.ChunkBatch{
		Holder: h, DocumentID: staged.DocumentID, Version: staged.Version, Model: "m",
		Chunks: []store.Chunk{{Content: "anchor", Key: "k", Embedding: make([]float32, storetest.Dimensions)}},
	}); err != nil || len(missing) > 0 {
		t.Fatal(missing, err)
	}
	l.exec("select from document_versions for update") // as aw_stage_terms does, which has found the job held
	l.exec("select aw_make_terms(client_id, array[document_id], array[version], array['en'], 0, 10) from document_versions")
	if _, err := l.Heartbeat(t.Context(), store.Heartbeat{Holder: h}); err != nil { // with a lease of zero
		t.Fatal(err)
	}
	ended := l.blocked(func() error { _, err := l.stageDocument(l.begin("job-2")); return err })
	l.commit()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	var left int
	if err := connect(t, l.url).QueryRow(t.Context(), "select count(*) from chunk_terms").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d terms are left of chunks that are gone, %v", left, err)
	}
}

// TestNoAdvisoryLocks: no other login can take the locks of a tenant's calls (I10). Any login can compute the number of
// an advisory lock, or read it in pg_locks, and hold the lock for ever.
func TestNoAdvisoryLocks(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	super := connect(t, url)
	rows, err := super.Query(t.Context(), `select p.proname from pg_proc p where p.pronamespace = 'public'::regnamespace
		and p.prokind = 'f' and p.proname like 'aw\_%' and pg_get_functiondef(p.oid) ~ 'advisory_(xact_)?lock'`)
	if err != nil {
		t.Fatal(err)
	}
	if found := collect(t, rows); len(found) > 0 {
		t.Errorf("I10: %q take advisory locks", found)
	}

	victim := storetest.NewVictim(t, func(t testing.TB, client string) store.Store { return open(t, url, client) },
		super)
	worker := login(t, url, super, "async_worker", victim.Client)
	for fn, args := range victim.Calls() {
		tx, err := worker.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, failed := tx.Exec(t.Context(), "savepoint call; select "+fn+"($1::jsonb)", pgx.QueryExecModeSimpleProtocol,
			string(args))
		if failed != nil {
			t.Logf("%s: %v", fn, failed)
		}
		var locks int
		err = tx.QueryRow(t.Context(), "select count(*) from pg_locks where locktype = 'advisory' and pid = "+
			"pg_backend_pid()").Scan(&locks)
		if failed == nil && (err != nil || locks > 0) {
			t.Errorf("I10: %s holds %d advisory locks, %v", fn, locks, err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReportOfUnansweredBeginsDoesNotWait: a job that somebody has locked does not hold up the report of others, and
// the report locks no job that a real attempt has.
func TestReportOfUnansweredBeginsDoesNotWait(t *testing.T) {
	t.Parallel()
	l := newLocks(t)
	live := l.begin("live")
	for _, id := range []string{"locked", "orphan"} {
		l.beginAs(id, "lost-"+id)
	}
	l.exec("select from jobs where id in ('locked', 'live') for update")
	n, err := l.ReleaseUnanswered(t.Context(), []store.UnansweredBegins{
		{JobID: "live", IDs: []string{"lost-live"}},
		{JobID: "locked", IDs: []string{"lost-locked"}},
		{JobID: "orphan", IDs: []string{"lost-orphan"}},
	})
	if err != nil || n != 1 {
		t.Errorf("%d jobs given back, %v; want the one that nobody has locked", n, err)
	}
	l.commit()
	if n, err = l.ReleaseUnanswered(t.Context(),
		[]store.UnansweredBegins{{JobID: "locked", IDs: []string{"lost-locked"}}}); err != nil || n != 1 {
		t.Errorf("%d jobs given back after the lock, %v; want 1", n, err)
	}
	if _, err := l.Heartbeat(t.Context(), store.Heartbeat{Holder: live, Lease: time.Hour}); err != nil {
		t.Error(err)
	}
}
