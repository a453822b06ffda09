package events_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"

	"github.com/seed-7227ef26/async-worker/internal/events"
	sinkhttp "github.com/seed-7227ef26/async-worker/internal/events/http"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// publisherEnv makes this test program a publisher: of a database, to a sink.
const publisherEnv = "EVENTS_TEST_PUBLISHER"

func TestMain(m *testing.M) {
	if os.Getenv(publisherEnv) != "" {
		fmt.Fprintln(os.Stderr, publish(context.Background()))
		os.Exit(1)
	}
	stacktest.Main(m, leaktest.Find)
}

// publish publishes until the process is killed.
func publish(ctx context.Context) error {
	s, err := postgres.Open(ctx, os.Getenv("EVENTS_TEST_DATABASE"), postgres.Options{ClientID: client})
	if err != nil {
		return err
	}
	sink, err := sinkhttp.New(sinkhttp.Options{URL: os.Getenv(publisherEnv)})
	if err != nil {
		return err
	}
	p, err := events.New(events.Config{
		Store: s, Sink: sink, ClientID: client, Worker: fmt.Sprintf("process %d", os.Getpid()),
		Log: slog.New(slog.NewTextHandler(os.Stderr, nil)), Lease: time.Second,
	})
	if err != nil {
		return err
	}
	p.Run(ctx)
	return nil
}

const client = "southhaven"

// victim is the process that publishes, and is killed and started again.
type victim struct {
	t    *testing.T
	env  []string
	died chan struct{} // it was killed; capacity 1

	mu    sync.Mutex
	child *exec.Cmd
	kills int
	most  int
}

// start starts a publisher.
func (v *victim) start() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.child = exec.Command(os.Args[0], "-test.run=^$")
	v.child.Env = append(os.Environ(), v.env...)
	if err := v.child.Start(); err != nil {
		v.t.Errorf("start a publisher: %v", err)
	}
}

// kill kills the publisher (SIGKILL), if enough have not died yet. run starts the next one.
func (v *victim) kill() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.child == nil || v.kills >= v.most {
		return
	}
	v.kills++
	v.end()
}

func (v *victim) end() {
	_ = v.child.Process.Kill()
	_ = v.child.Wait()
	v.child = nil
	select {
	case v.died <- struct{}{}:
	default:
	}
}

func (v *victim) killed() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.kills
}

// receiver is a sink that is slow and sometimes down, and kills the publisher in the worst places.
type receiver struct {
	t      *testing.T
	victim *victim

	mu   sync.Mutex
	got  []cloudevents.Event
	down int // requests to refuse
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var batch []cloudevents.Event
	if err := json.NewDecoder(req.Body).Decode(&batch); err != nil {
		http.Error(w, "not a batch", http.StatusBadRequest) // a publisher died while it sent
		return
	}
	r.mu.Lock()
	if rand.IntN(40) == 0 {
		r.down = 3
	}
	refuse := r.down > 0
	r.down--
	if !refuse {
		for _, e := range batch {
			if err := e.Validate(); err != nil {
				r.t.Errorf("event %s: %v", e.ID(), err)
			}
		}
		r.got = append(r.got, batch...)
	}
	r.mu.Unlock()
	<-time.After(time.Duration(rand.IntN(15)) * time.Millisecond) // it is slow
	switch {
	case refuse && rand.IntN(2) == 0:
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case refuse:
		panic(http.ErrAbortHandler) // the connection ends
	}
	if rand.IntN(3) > 0 {
		return
	}
	if rand.IntN(2) == 0 { // the events are here, and the publisher does not know
		r.victim.kill()
		return
	}
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	<-time.After(time.Duration(rand.IntN(4000)) * time.Microsecond) // maybe it has recorded so, maybe not
	r.victim.kill()
}

func (r *receiver) unique() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := map[string]bool{}
	for _, e := range r.got {
		ids[e.ID()] = true
	}
	return len(ids)
}

// TestKilledPublishers: a publisher is killed 10 times (50 in `make prove`), by SIGKILL and in the worst places, while
// several writers make the events of 400 jobs (2,000), some in transactions that stay open for a while, and the sink is slow and sometimes down.
// Each event arrives, the events of a job in their order, and what comes again has the same id.
func TestKilledPublishers(t *testing.T) {
	jobs, kills := 400, 10
	if os.Getenv(stack.ProveEnv) != "" {
		jobs, kills = 2000, 50
	}
	url := stacktest.PostgresWith(t, schema.Options{})
	s := openStore(t, url, client)
	if err := s.OpenPublisher(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := &victim{t: t, died: make(chan struct{}, 1), most: kills}
	r := &receiver{t: t, victim: v}
	server := httptest.NewServer(r)
	defer server.Close()
	v.env = []string{publisherEnv + "=" + server.URL, "EVENTS_TEST_DATABASE=" + url}
	v.start()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.child != nil {
			v.end()
		}
	}()

	written := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() { write(t, s, w, jobs/4) })
	}
	stop, stopHolding := context.WithCancel(t.Context())
	defer stopHolding()
	var holders sync.WaitGroup
	for range 2 {
		holders.Go(func() { holdOpen(stop, t, url, s) })
	}
	go func() { writers.Wait(); stopHolding(); holders.Wait(); close(written) }()

	waiting, total := written, -1
	check := time.NewTicker(50 * time.Millisecond)
	defer check.Stop()
	for done := false; !done; {
		select {
		case <-t.Context().Done():
			t.Fatal("the test was stopped")
		case <-v.died:
			v.start()
		case <-waiting:
			waiting = nil
			total = len(expected(t, url))
		case <-check.C:
			if n := r.unique(); n == total {
				if v.killed() >= kills {
					done = true
				} else { // go on until enough have died
					write(t, s, 9, 1)
					total = len(expected(t, url))
				}
			}
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	verify(t, expected(t, url), r.got, v.killed())
}

// verify compares what arrived with what was written.
func verify(t *testing.T, want map[string]row, got []cloudevents.Event, kills int) {
	t.Helper()
	seen := map[string]cloudevents.Event{}
	last := map[string]int64{}
	repeated := 0
	for _, e := range got {
		w, ok := want[e.ID()]
		if !ok {
			t.Fatalf("nobody wrote event %s (%s)", e.ID(), e)
		}
		if first, again := seen[e.ID()]; again {
			repeated++
			if first.Type() != e.Type() || string(first.Data()) != string(e.Data()) {
				t.Errorf("event %s comes again, and differs:\n%s\n%s", e.ID(), first, e)
			}
			continue
		}
		seen[e.ID()] = e
		if e.Subject() != w.job {
			t.Errorf("event %s is of %s, not of %s", e.ID(), e.Subject(), w.job)
		}
		if w.seq <= last[w.job] {
			t.Errorf("event %d of %s comes after %d", w.seq, w.job, last[w.job])
		}
		last[w.job] = w.seq
	}
	for id, w := range want {
		if _, ok := seen[id]; !ok {
			t.Errorf("event %d of %s did not arrive", w.seq, w.job)
		}
	}
	t.Logf("%d kills: %d events of %d jobs were written, %d arrived, %d came again with the same id", kills, len(want),
		len(last), len(seen), repeated)
}
