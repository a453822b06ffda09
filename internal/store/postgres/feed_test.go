package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
)

// begun is a running job of a tenant.
func begun(t testing.TB, s store.Store) store.Holder {
	t.Helper()
	id := uuid.NewString()
	answer, err := s.Begin(t.Context(), store.Begin{
		Task: store.Task{
			JobID: id, Type: "ocr", Payload: json.RawMessage(`{}`), Hints: json.RawMessage(`{}`), Priority: "normal",
			Fingerprint: "f", MaxAttempts: 1,
		},
		Worker: "w", Lease: time.Hour, ID: uuid.NewString(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return store.Holder{JobID: id, Fence: answer.Fence}
}

// heartbeat is the SQL of a heartbeat with one event.
func heartbeat(client string, h store.Holder, stage string) string {
	return fmt.Sprintf(`select aw_heartbeat('{"client_id":%q,"job_id":%q,"fence":%d,"lease_ms":3600000,
		"events":[{"id":%q,"ago_ms":0,"stage":%q,"progress":10}]}')`, client, h.JobID, h.Fence, uuid.NewString(), stage)
}

// TestFeedWaitsForOpenTransactions: an event whose transaction commits late is neither jumped over nor put after events
// that a reader has. The stream waits for it, readers of single jobs don't.
func TestFeedWaitsForOpenTransactions(t *testing.T) {
	t.Parallel()
	// Transactions of the other tests in this cluster would hold up the stream, too, but for moments only.
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	s := open(t, url, "a")
	defer s.Close()
	slow, quick := begun(t, s), begun(t, s)
	start := end(t, s)

	held, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.Exec(t.Context(), heartbeat("a", slow, "first")); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, url).Exec(t.Context(), heartbeat("a", quick, "second")); err != nil {
		t.Fatal(err)
	}
	page := feed(t, s, store.FeedQuery{
		After: &start, Limit: 10, Jobs: []store.JobPosition{{JobID: quick.JobID, Seq: 1}},
	})
	if len(page.Events) > 0 || !page.Held || page.Next.Compare(start) < 0 {
		t.Errorf("while a transaction is open: %+v", page)
	}
	if len(page.JobEvents) != 1 || page.JobEvents[0].Stage != "second" {
		t.Errorf("the events of a single job: %+v", page.JobEvents)
	}
	if err := held.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for after, got := page.Next, ""; got != "first second "; {
		page := feed(t, s, store.FeedQuery{After: &after, Limit: 1})
		for _, e := range page.Events {
			got += e.Stage + " "
		}
		after = page.Next
		if !page.Held && !page.More && got != "first second " {
			t.Fatalf("the stream has %q", got)
		}
	}
}

// TestFeedKeepsTheOrderOfAJob: a transaction that began earlier, and waited for a job, writes the job's later events. In
// the stream they come later, too.
func TestFeedKeepsTheOrderOfAJob(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	s := open(t, url, "a")
	defer s.Close()
	other, job := begun(t, s), begun(t, s)
	start := end(t, s)
	older, err := connect(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		conn interface {
			Exec(context.Context, string, ...any) (pgconn.CommandTag, error)
		}
		of    store.Holder
		stage string
	}{{older, other, "first"}, {connect(t, url), job, "second"}, {older, job, "third"}} {
		if _, err := step.conn.Exec(t.Context(), heartbeat("a", step.of, step.stage)); err != nil {
			t.Fatal(err)
		}
	}
	if err := older.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	page := feed(t, s, store.FeedQuery{After: &start, Limit: 10})
	for page.Held {
		page = feed(t, s, store.FeedQuery{After: &start, Limit: 10})
	}
	var got []string
	for _, e := range page.Events {
		got = append(got, e.Stage)
	}
	if want := "[first second third]"; fmt.Sprint(got) != want {
		t.Errorf("the stream has %v, want %s", got, want)
	}
}

// end is the end of the stream, once no transaction is open that wrote one of the tenant's events.
func end(t testing.TB, s store.Store) store.FeedPosition {
	t.Helper()
	for {
		if page := feed(t, s, store.FeedQuery{After: &store.FeedPosition{}, Limit: 1}); !page.Held {
			return page.Next
		}
		<-time.After(5 * time.Millisecond)
	}
}

func feed(t testing.TB, s store.Store, q store.FeedQuery) store.FeedPage {
	t.Helper()
	page, err := s.Feed(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// TestFeedOfARestoredDatabase: in another cluster transactions have other numbers. Events of the old one leave the
// stream at the next migrate, and the new ones are in it.
func TestFeedOfARestoredDatabase(t *testing.T) {
	t.Parallel()
	o := schema.Options{Dimensions: storetest.Dimensions}
	url := stacktest.PostgresWith(t, o)
	s := open(t, url, "a")
	defer s.Close()
	h := begun(t, s)
	start := end(t, s)
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), "update job_events set tx = (tx::text::bigint + 1000000)::text::xid8"); err != nil {
		t.Fatal(err)
	}
	if page := feed(t, s, store.FeedQuery{After: &start, Limit: 1}); len(page.Events) > 0 || !page.Held {
		t.Errorf("before migrate: %+v", page)
	}
	if _, err := schema.Migrate(t.Context(), url, o); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), heartbeat("a", h, "new")); err != nil {
		t.Fatal(err)
	}
	for {
		page := feed(t, s, store.FeedQuery{After: &start, Limit: 10})
		if page.Held {
			<-time.After(5 * time.Millisecond)
			continue
		}
		if len(page.Events) != 1 || page.Events[0].Stage != "new" {
			t.Errorf("after migrate: %+v", page)
		}
		return
	}
}

// TestWakeReachesTheTenantsListeners, who may be others' as well, without the ids of the jobs.
func TestWakeReachesTheTenantsListeners(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), "listen "+pgx.Identifier{"async_worker:a"}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	a, b := open(t, url, "a"), open(t, url, "b")
	defer a.Close()
	defer b.Close()
	for _, c := range []struct {
		jobs []string
		want string
	}{{[]string{"x", "y"}, "2d a1"}, {nil, ""}, {[]string{"x", "x"}, "2d"}} {
		if err := b.Wake(t.Context(), []string{"not a's"}); err != nil {
			t.Fatal(err)
		}
		if err := a.Wake(t.Context(), c.jobs); err != nil {
			t.Fatal(err)
		}
		n, err := conn.WaitForNotification(t.Context())
		if err != nil || n.Payload != c.want {
			t.Errorf("woken by %+v, %v; want %q", n, err, c.want)
		}
	}
}
