package postgres_test

import (
	"context"
	"flag"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/queue"
)

// messages is how many TestBloat puts through: go test ./queue/postgres -run TestBloat -v -messages 1000000
var messages = flag.Int("messages", 0, "the messages of TestBloat; 0 skips it")

// TestBloat puts messages through a queue while a long transaction is open, which keeps VACUUM from removing anything,
// and prints the size of the tables and the time of a receive as it goes. The size must not grow with the number of
// messages.
func TestBloat(t *testing.T) {
	if *messages == 0 {
		t.Skip("-messages is not set")
	}
	const depth, senders, receivers = 200, 2, 2
	const text = `{"task_id":"a","task_type":"ingest","payload":{}}`
	url := stacktest.PostgresWith(t, small)
	long := connect(t, url)
	tx, err := long.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	must(t, err)
	defer tx.Rollback(context.WithoutCancel(t.Context()))
	_, err = tx.Exec(t.Context(), "select txid_current()") // now it holds back the horizon
	must(t, err)
	service := direct(t, url, "acme")
	defer service.Close()
	q := service.Queue("acme-tasks")
	must(t, q.Ensure(t.Context()))
	for range depth { // hidden for long, as retries are: they have to be moved
		_, err := q.Send(t.Context(), "later", queue.SendOptions{Delay: 24 * time.Hour})
		must(t, err)
	}
	var sent, done atomic.Int64
	slots := make(chan struct{}, 4*queue.MaxBatch) // the messages that wait
	var all sync.WaitGroup
	for range senders {
		all.Go(func() {
			for sent.Add(1) <= int64(*messages) {
				slots <- struct{}{}
				if _, err := q.Send(t.Context(), text, queue.SendOptions{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var mu sync.Mutex
	var took []time.Duration
	for range receivers {
		all.Go(func() {
			for done.Load() < int64(*messages) && !t.Failed() {
				began := time.Now()
				got, err := q.Receive(t.Context(), 8, time.Minute)
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
				if err != nil {
					t.Error(err)
					return
				}
				for _, m := range got {
					if err := m.Lease.Delete(t.Context()); err != nil {
						t.Error(err)
						return
					}
					<-slots
				}
				done.Add(int64(len(got)))
			}
		})
	}
	watching, stop := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(30 * time.Second)
		defer tick.Stop()
		monitor, began := connect(t, url), time.Now()
		for {
			select {
			case <-watching.Done():
				return
			case <-tick.C:
			}
			mu.Lock()
			slices.Sort(took)
			p50, p99 := took[len(took)/2], took[len(took)*99/100]
			took = took[:0]
			mu.Unlock()
			t.Logf("%5.0f s: %7d messages, %4d MB, receive p50 %v p99 %v", time.Since(began).Seconds(), done.Load(),
				size(t, monitor)>>20, p50, p99)
		}
	})
	all.Wait()
	stop()
	watch.Wait()
	if got := size(t, connect(t, url)); got > 400<<20 {
		t.Errorf("%d MB at the end", got>>20)
	}
	if n, err := q.Depth(t.Context()); err != nil || n != depth {
		t.Errorf("%d messages are left, %v; want %d", n, err, depth)
	}
}

// size is that of tables and indexes, in bytes.
func size(t *testing.T, conn *pgx.Conn) int64 {
	t.Helper()
	var n int64
	must(t, conn.QueryRow(context.WithoutCancel(t.Context()), `select sum(pg_total_relation_size(c.oid))::bigint
		from pg_class c where relname like 'aw\_queue\_messages\__'`).Scan(&n))
	return n
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	must(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}
