package events_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/events"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// collector is a sink in memory. do may change what becomes of events; nil: all are taken.
type collector struct {
	do func(ctx context.Context, all []events.Event) (events.Sent, error)

	mu    sync.Mutex
	got   []events.Event
	most  int // events in one call
	bytes int // likewise
	news  chan struct{}
}

func newCollector() *collector { return &collector{news: make(chan struct{}, 1)} }

func (c *collector) Send(ctx context.Context, all []events.Event) (events.Sent, error) {
	size := 0
	for _, e := range all {
		size += len(e.Body)
	}
	c.mu.Lock()
	c.most, c.bytes = max(c.most, len(all)), max(c.bytes, size)
	c.mu.Unlock()
	sent, err := events.Sent{Done: len(all)}, error(nil)
	if c.do != nil {
		sent, err = c.do(ctx, all)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = append(c.got, all[:sent.Done]...)
	select {
	case c.news <- struct{}{}:
	default:
	}
	return sent, err
}

func (c *collector) Probe(context.Context) error { return nil }
func (c *collector) Close()                      {}

// await waits for so many different events and returns their types.
func (c *collector) await(t *testing.T, n int) (types []string) {
	t.Helper()
	seen, read := map[string]bool{}, 0
	for {
		c.mu.Lock()
		for _, e := range c.got[read:] {
			if !seen[e.ID] {
				types = append(types, e.Type)
			}
			seen[e.ID] = true
		}
		read = len(c.got)
		c.mu.Unlock()
		if len(types) >= n {
			return types
		}
		select {
		case <-c.news:
		case <-t.Context().Done():
			t.Fatalf("%d of %d events", len(types), n)
		}
	}
}

// records is a log.
type records struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *records) count(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Count(r.text.String(), text)
}

type bed struct {
	url   string
	store store.Store
	log   *records
}

func newBed(t *testing.T) *bed {
	t.Helper()
	url := stacktest.PostgresWith(t, schema.Options{})
	b := &bed{url: url, store: openStore(t, url, client), log: &records{}}
	if err := b.store.OpenPublisher(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// busyLease is longer than a database is silent on a busy machine: a publisher without its lease may send twice.
const busyLease = 5 * time.Minute

// run runs a publisher until stop is called, which waits for its end.
func (b *bed) run(t *testing.T, worker string, sink events.Sink, edit func(*events.Config)) (stop func()) {
	t.Helper()
	cfg := events.Config{
		Store: b.store, Sink: sink, ClientID: client, Worker: worker, Lease: busyLease,
		Log: slog.New(slog.NewTextHandler(b.log, nil)),
	}
	if edit != nil {
		edit(&cfg)
	}
	p, err := events.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { p.Run(ctx) })
	stop = func() { cancel(); done.Wait() }
	t.Cleanup(stop)
	return stop
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	sink := newCollector()
	stop := b.run(t, "w1", sink, nil)
	h := begin(t, b.store, "ocr")
	progress(t, b.store, h, 3)
	complete(t, b.store, h, `{"derived_content_id": "d1", "page_count": 10, "processing_time_ms": 5}`)
	fail(t, b.store, begin(t, b.store, "ingest"))
	want := []string{
		"ocr.job.started", "ocr.job.progress", "ocr.job.completed", "ingest.job.started", "ingest.job.failed", "ingest.dlq",
	}
	if got := sink.await(t, len(want)); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("events %v, want %v", got, want)
	}
	for i, holds := range []string{
		`"owner_id":"user-17"`, `"pages_completed":3,"total_pages":10,"percent_complete":30`,
		`"derived_content_id":"d1"`, `"content_id":"scan.pdf"`, `"error_type":"validation","error_message":"no","retry_count":0`,
		`"original_message":"{\"task_id\"`,
	} {
		body := string(sink.got[i].Body)
		if !strings.Contains(body, holds) || !strings.Contains(body, `"tenant_id":"southhaven"`) {
			t.Errorf("event %d lacks %s:\n%s", i, holds, body)
		}
	}
	// What is written while the publisher ends is published, too, and the lease is given back.
	complete(t, b.store, begin(t, b.store, "ocr"), `{}`)
	stop()
	sink.await(t, len(want)+2)
	if state, err := b.store.PublisherState(t.Context()); err != nil || state.Held || state.Behind != 0 ||
		state.Published != int64(len(want)+2) {
		t.Errorf("state %+v, %v", state, err)
	}
}

// TestSinkIsDown: a sink that fails gets everything later; it is logged once that it is down, and once that it is back.
func TestSinkIsDown(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	down := make(chan struct{})
	sink := newCollector()
	failures := 0
	sink.do = func(_ context.Context, all []events.Event) (events.Sent, error) {
		select {
		case <-down:
			return events.Sent{Done: len(all)}, nil
		default:
			if failures++; failures == 2 {
				close(down)
			}
			return events.Sent{}, &events.WaitError{Cause: errors.New("no room")}
		}
	}
	stop := b.run(t, "w1", sink, nil)
	for range 5 {
		complete(t, b.store, begin(t, b.store, "ocr"), `{}`)
	}
	sink.await(t, 10)
	stop() // the log comes after the last event
	if b.log.count("the sink does not take the events") != 1 || b.log.count("the sink takes events again") != 1 {
		t.Errorf("log:\n%s", b.log.text.String())
	}
}

// TestRefusedEvent: an event that the sink refuses is logged and counted, and the others arrive; a part of a page that
// was taken is not sent again.
func TestRefusedEvent(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for range 5 {
		complete(t, b.store, begin(t, b.store, "ocr"), `{}`)
	}
	sink := newCollector()
	refused, counted := "", make(chan events.Observation, 100)
	sink.do = func(_ context.Context, all []events.Event) (events.Sent, error) {
		if refused == "" && len(all) > 3 { // a first page may be what was committed when it was read
			refused = all[1].ID
			return events.Sent{Done: 3, Refused: []events.Refusal{{Event: all[1], Cause: errors.New("400")}}}, errors.New("503")
		}
		return events.Sent{Done: len(all)}, nil
	}
	b.run(t, "w1", sink, func(c *events.Config) { c.Observe = func(o events.Observation) { counted <- o } })
	sink.await(t, 10)
	if n := len(sink.got); n != 10 {
		t.Errorf("%d events were sent, want 10", n)
	}
	if refused == "" || b.log.count("the sink refuses an event") != 1 || b.log.count(refused) != 1 {
		t.Errorf("log of %q:\n%s", refused, b.log.text.String())
	}
	o := <-counted
	for o.Refused == 0 {
		o = <-counted
	}
	if o.Published != 2 || o.Refused != 1 {
		t.Errorf("counted %+v", o)
	}
}

// TestBacklog: however much waits, and however large results are, a page has bounds.
func TestBacklog(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	h := begin(t, b.store, "ocr")
	if _, err := connect(t, b.url).Exec(t.Context(), `insert into job_events (client_id, job_id, seq, id, stage, progress,
			attempt, message) select $1, $2, 1 + n, gen_random_uuid(), 'parsing', 10, 1, repeat('m', 20)
		from generate_series(1, 20000) n`, client, h.JobID); err != nil {
		t.Fatal(err)
	}
	for range 4 { // results of 10 MB, and of 200 KB, in a row
		for range 10 {
			complete(t, b.store, begin(t, b.store, "ocr"), `{"text": "`+strings.Repeat("x", 200_000)+`"}`)
		}
		complete(t, b.store, begin(t, b.store, "ocr"), `{"text": "`+strings.Repeat("x", 10_000_000)+`"}`)
	}
	sink := newCollector()
	b.run(t, "w1", sink, nil)
	sink.await(t, 20_001+2*44)
	sink.mu.Lock()
	defer sink.mu.Unlock()
	if sink.most > 500 || sink.bytes > 4<<20 {
		t.Errorf("up to %d events of %d bytes at a time", sink.most, sink.bytes)
	}
}

// TestTakeover: one of two publishers sends; when it ends, or can't renew its lease, the other one goes on, and the
// first one does not move the position any more.
func TestTakeover(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	first, second := newCollector(), newCollector()
	full, stuck, cut := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once sync.Once
	first.do = func(ctx context.Context, all []events.Event) (events.Sent, error) {
		select {
		case <-full: // its lease ends while it waits for the sink
			once.Do(func() { close(stuck) })
			<-ctx.Done()
			return events.Sent{Done: len(all)}, nil // and the sink has taken them after all
		default:
			return events.Sent{Done: len(all)}, nil
		}
	}
	b.run(t, "w1", first, func(c *events.Config) {
		c.Store, c.Lease = &unreachable{Publishing: b.store, cut: cut}, 10*time.Second // which the test waits for
	})
	complete(t, b.store, begin(t, b.store, "ocr"), `{}`)
	first.await(t, 2)
	b.run(t, "w2", second, nil)
	for range 3 {
		complete(t, b.store, begin(t, b.store, "ocr"), `{}`)
	}
	first.await(t, 8)
	second.mu.Lock()
	published := len(second.got)
	second.mu.Unlock()
	if published > 0 {
		t.Errorf("both publish: %d", published)
	}
	close(full)
	complete(t, b.store, begin(t, b.store, "ingest"), `{}`)
	<-stuck // not before: on a slow machine its lease would end while it waits for events
	close(cut)
	if types := second.await(t, 1); !strings.HasPrefix(types[0], "ingest") {
		t.Errorf("the second one goes on with %v", types)
	}
	second.await(t, 2)
	if state, err := b.store.PublisherState(t.Context()); err != nil || state.Worker != "w2" {
		t.Errorf("state %+v, %v", state, err)
	}
}

// unreachable is a store that can't be reached once cut is closed.
type unreachable struct {
	store.Publishing
	cut chan struct{}
}

var errUnreachable = errors.New("the database is out of reach")

func (u *unreachable) reach() error {
	select {
	case <-u.cut:
		return errUnreachable
	default:
		return nil
	}
}

func (u *unreachable) ClaimPublisher(
	ctx context.Context, worker string, lease time.Duration,
) (store.PublisherClaim, error) {
	if err := u.reach(); err != nil {
		return store.PublisherClaim{}, err
	}
	return u.Publishing.ClaimPublisher(ctx, worker, lease)
}

func (u *unreachable) Published(ctx context.Context, p store.Published) error {
	if err := u.reach(); err != nil {
		return err
	}
	return u.Publishing.Published(ctx, p)
}
