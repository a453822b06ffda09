package feed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

func open(t testing.TB, url string) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, postgres.Options{ClientID: "a", MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

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

func heartbeat(h store.Holder, message string) string {
	return fmt.Sprintf(`select aw_heartbeat('{"client_id":"a","job_id":%q,"fence":%d,"lease_ms":3600000,
		"events":[{"id":%q,"ago_ms":0,"stage":"s","progress":10,"message":%q}]}')`, h.JobID, h.Fence, uuid.NewString(), message)
}

// tally checks that events come once, each job's in order without a gap, and counts them.
type tally struct {
	t    *testing.T
	last map[string]int64
	n    int
}

func (c *tally) add(events []*feed.Event) {
	for _, e := range events {
		if e.Seq != c.last[e.JobID]+1 {
			c.t.Errorf("event %d of %s after %d", e.Seq, e.JobID, c.last[e.JobID])
		}
		c.last[e.JobID] = e.Seq
		c.n++
	}
}

// TestNothingIsMissed: three writers, who hold transactions open for a while and commit them in any order, and listeners
// that are cut off at random and go on from the cursor of the last event that they got.
func TestNothingIsMissed(t *testing.T) {
	t.Parallel()
	const writers, rounds, most = 3, 60, 4
	url := stacktest.PostgresWith(t, schema.Options{})
	s := open(t, url)
	f := feed.New(feed.Config{Store: s, Log: slog.New(slog.DiscardHandler), Listen: listenTo(url)})
	t.Cleanup(f.Close)
	first := f.Follow(store.FeedPosition{})
	if _, err := first.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	start := first.Position()
	first.Close()

	var writing sync.WaitGroup
	for range writers {
		var conns []*pgx.Conn
		var holders []store.Holder
		for range most {
			conn, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			conns, holders = append(conns, conn), append(holders, begun(t, s))
		}
		writing.Go(func() {
			for range rounds {
				if err := writeTogether(t.Context(), conns, holders); err != nil {
					t.Error(err)
				}
			}
			for _, c := range conns {
				_ = c.Close(context.Background())
			}
		})
	}
	// An event of each job comes with its begin.
	const want = writers * most * (rounds + 1)
	var listening sync.WaitGroup
	for range 3 {
		listening.Go(func() {
			c := tally{t: t, last: map[string]int64{}}
			at, cuts := start, 0
			for c.n < want && !t.Failed() {
				at = listenOnce(t, f, at, &c, want)
				cuts++
			}
			if c.n != want {
				t.Errorf("%d events, want %d", c.n, want)
			}
			t.Logf("%d events over %d connections", c.n, cuts)
		})
	}
	writing.Wait()
	listening.Wait()
}

// writeTogether writes an event to each job, in transactions that are open at the same time, and commits them in random
// order.
func writeTogether(ctx context.Context, conns []*pgx.Conn, holders []store.Holder) error {
	var open []pgx.Tx
	for i, c := range conns {
		tx, err := c.Begin(ctx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, heartbeat(holders[i], "")); err != nil {
			return err
		}
		open = append(open, tx)
	}
	for _, i := range rand.Perm(len(open)) {
		if err := open[i].Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// listenOnce listens until a random number of events has come, and returns the position, through its cursor.
func listenOnce(t *testing.T, f *feed.Feed, at store.FeedPosition, c *tally, want int) store.FeedPosition {
	l := f.Follow(at)
	defer l.Close()
	for until := min(want, c.n+1+rand.IntN(20)); c.n < until; {
		events, err := l.Next(t.Context())
		if err != nil {
			t.Error(err)
			return at
		}
		events = events[:min(len(events), until-c.n)]
		c.add(events)
		if len(events) > 0 {
			p, err := feed.ParseCursor(feed.Cursor(events[len(events)-1].Position()))
			if err != nil {
				t.Error(err)
			}
			at = p
		}
	}
	return at
}

func listenTo(url string) func(context.Context, func([]string)) error {
	return func(ctx context.Context, woken func([]string)) error {
		return postgres.Listen(ctx, url, postgres.FeedChannel("a"), woken)
	}
}

// TestOpenTransaction: while another transaction is open, listeners of single jobs get their events, and followers wait.
func TestOpenTransaction(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{})
	s := open(t, url)
	slow, quick := begun(t, s), begun(t, s)
	f := feed.New(feed.Config{Store: s, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(f.Close)
	all, one := f.Follow(store.FeedPosition{}), f.Watch(quick.JobID, 1)
	defer all.Close()
	defer one.Close()
	for !all.CaughtUp() || !one.CaughtUp() {
		for _, l := range []*feed.Listener{all, one} {
			if l.CaughtUp() {
				continue
			}
			if _, err := l.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), heartbeat(slow, "first")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Heartbeat(t.Context(), store.Heartbeat{
		Holder: quick, Lease: time.Hour, Events: []store.Event{{ID: uuid.NewString(), At: time.Now(), Message: "second"}},
	}); err != nil {
		t.Fatal(err)
	}
	f.Written(quick.JobID)
	if _, err := read(t.Context(), one, "second"); err != nil {
		t.Fatal(err)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	// It may get the begins of the jobs, if they waited for transactions of other tests.
	if early, err := read(done, all, "second"); !errors.Is(err, context.Canceled) {
		t.Errorf("a follower gets %q, %v, before the event of the open transaction", early, err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t.Context(), all, "second"); err != nil || len(got) < 2 || got[len(got)-2] != "first" {
		t.Errorf("then it gets %q, %v", got, err)
	}
}

// TestListen: notifications of this tenant's workers arrive, and the end of the connection is an error.
func TestListen(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{})
	s := open(t, url)
	woken, ended := make(chan []string, 10), make(chan error, 1)
	go func() {
		ended <- listenTo(url)(t.Context(), func(marks []string) { woken <- marks })
	}()
	select {
	case marks := <-woken:
		if marks != nil {
			t.Errorf("ready: %q", marks)
		}
	case err := <-ended:
		t.Fatal(err)
	}
	if err := s.Wake(t.Context(), []string{"x", "y"}); err != nil {
		t.Fatal(err)
	}
	if marks := <-woken; len(marks) != 2 || marks[1] != "a1" {
		t.Errorf("woken by %q", marks)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and application_name = 'async-worker (listener)'`); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("no error when the connection ended")
	}
}
