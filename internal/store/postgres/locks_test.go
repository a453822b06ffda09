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

// locks is a store, and a superuser's transaction that stands in its way.
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

func (l *locks) begin(id string) store.Holder {
	l.Helper()
	b, err := l.Begin(l.Context(), store.Begin{
		JobID: id, Type: "ingest", Payload: json.RawMessage(`{}`), Hints: json.RawMessage(`{}`), Fingerprint: id,
		MaxAttempts: 3, Worker: "w", Lease: time.Hour, Source: store.Source{Queue: "q", MessageID: id},
	})
	if err != nil || b.Decision != store.Run {
		l.Fatalf("begin: %+v, %v", b, err)
	}
	return store.Holder{JobID: id, Fence: b.Fence}
}

func (l *locks) stageDocument(h store.Holder) (store.Staged, error) {
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

// blocked runs f beside the transaction and returns when the database says that it waits for it.
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
		default:
		}
	}
}

// Who ends a job and who opens its document lock in one order, the document before its versions: else
// they would wait for each other, and the database would end one of them.
func TestEndAndStagingDoNotDeadlock(t *testing.T) {
	t.Parallel()
	l := newLocks(t)
	h := l.begin("job-1")
	if _, err := l.stageDocument(h); err != nil {
		t.Fatal(err)
	}
	l.exec("select from documents for update") // as aw_stage_document of another job does
	ended := l.blocked(func() error {
		_, err := l.Fail(l.Context(), store.Failure{Holder: h, Error: store.ErrorInfo{Class: "timeout", Message: "m"}, Reason: "timeout"})
		return err
	})
	l.exec("delete from document_versions") // and then it takes what nobody holds
	l.commit()
	if err := <-ended; err != nil {
		t.Errorf("the end of the other job: %v", err)
	}
}

// A document that goes away while another job opens it is made anew.
func TestStagingOutlastsTheDocumentsEnd(t *testing.T) {
	t.Parallel()
	l := newLocks(t)
	if _, err := l.stageDocument(l.begin("job-1")); err != nil {
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
