package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

const (
	feedWatchers  = 490 // each of one job of its own, as browsers
	feedFollowers = 10  // of all jobs, as dashboards
	feedTasks     = 600 // in a round
	feedRounds    = 3   // each without listeners and with them
	feedAim       = 2   // percent of tasks a second that listeners may cost
)

// measureFeed prints what 500 streams of events over HTTP cost: memory, the delay of an event, and tasks a second, beside
// the same without them. Readers run in this process: their part is in the memory and in the lost tasks. One follower
// measures the delay.
func measureFeed(ctx context.Context, out io.Writer) (err error) {
	azurite, err := stack.StartAzurite(ctx, stack.AzuriteOptions{})
	if err != nil {
		return err
	}
	defer stopping(&err, azurite.Stop)
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{})
	if err != nil {
		return err
	}
	defer stopping(&err, pg.Stop)
	opened, err := openJobs(ctx, pg, concurrency)
	if err != nil {
		return err
	}
	events := feed.New(feed.Config{Store: opened, Log: slog.New(slog.DiscardHandler), Keep: time.Hour})
	defer events.Close()
	jobs := feed.Announce(opened, events, false)
	defer jobs.Close()
	h, err := newHouse(ctx, jobs, events)
	if err != nil {
		return err
	}
	defer h.close()
	var alone, listened, share []float64
	for round := range feedRounds {
		without, err := workerRound(ctx, azurite.ConnectionString, jobs, feedTasks, 2*round)
		if err != nil {
			return err
		}
		before := memoryTaken()
		if err := h.listen(ctx); err != nil {
			return err
		}
		if round == 0 {
			fmt.Fprintf(out, "%d listeners: %.1f KiB of memory each, its reader included\n", feedWatchers+feedFollowers,
				float64(memoryTaken()-before)/1024/(feedWatchers+feedFollowers))
		}
		with, err := workerRound(ctx, azurite.ConnectionString, jobs, feedTasks, 2*round+1)
		h.hangUp()
		if err != nil {
			return err
		}
		a, l := feedTasks/without.took.Seconds(), feedTasks/with.took.Seconds()
		alone, listened, share = append(alone, a), append(listened, l), append(share, 100*(1-l/a))
	}
	slices.Sort(h.delays)
	if len(h.delays) == 0 {
		return fmt.Errorf("no event came")
	}
	fmt.Fprintf(out, "an event from its row to its reader: p50 %v, p95 %v, most %v, of %d\n", ms(h.delays[len(h.delays)/2]),
		ms(h.delays[len(h.delays)*95/100]), ms(h.delays[len(h.delays)-1]), len(h.delays))
	fmt.Fprintf(out, "tasks a second: %.0f without, %.0f with them, %.1f %% less (medians of %d rounds: %.1f; the aim is %d %%)\n",
		median(alone), median(listened), median(share), feedRounds, share, feedAim)
	return nil
}

// memoryTaken is what Go's heap and stacks take, in bytes.
func memoryTaken() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// house is the API and its listeners.
type house struct {
	token  string
	server *http.Server
	addr   string
	ids    []string // of the watched jobs

	conns   []net.Conn
	reading sync.WaitGroup
	mu      sync.Mutex
	delays  []time.Duration
}

func newHouse(ctx context.Context, jobs store.Store, events *feed.Feed) (*house, error) {
	token, entry, err := apitoken.New("bench", apitoken.Read)
	if err != nil {
		return nil, err
	}
	a, err := api.New(api.Deps{
		ClientID: client, Store: jobs, Feed: events, Log: slog.New(slog.DiscardHandler),
		Auth: api.Auth{Tokens: []apitoken.Token{entry}},
	})
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := &house{token: token, addr: l.Addr().String(), server: &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}}
	go func() { _ = h.server.Serve(l) }() // it ends with close
	for i := range feedWatchers {
		id := fmt.Sprintf("watched-%d", i)
		if _, err := jobs.Begin(ctx, store.Begin{
			Task: store.Task{
				JobID: id, Type: "noop", Payload: json.RawMessage("{}"), Priority: "normal", MaxAttempts: 1, Fingerprint: id,
			},
			Worker: "bench", Lease: time.Hour, ID: uuid.NewString(),
		}); err != nil {
			return nil, err
		}
		h.ids = append(h.ids, id)
	}
	return h, nil
}

// listen opens all streams, and returns once each has begun.
func (h *house) listen(ctx context.Context) error {
	for i := range feedWatchers + feedFollowers {
		path := "/v1/events"
		if i < feedWatchers {
			path = "/v1/jobs/" + h.ids[i] + "/events"
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", h.addr)
		if err != nil {
			return err
		}
		h.conns = append(h.conns, conn)
		if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: bench\r\nAccept: text/event-stream\r\nAuthorization: Bearer %s\r\n\r\n",
			path, h.token); err != nil {
			return err
		}
		lines := bufio.NewReaderSize(conn, 2048)
		if status, err := lines.ReadString('\n'); err != nil || !strings.Contains(status, " 200 ") {
			return fmt.Errorf("a stream answers %q, %w", status, err)
		}
		h.reading.Go(func() { h.read(lines, i == feedWatchers) })
	}
	return nil
}

// read reads a stream to its end, and measures the delays of its events.
func (h *house) read(lines *bufio.Reader, measured bool) {
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		var e api.JobEvent
		if data, ok := strings.CutPrefix(line, "data: "); measured && ok && json.Unmarshal([]byte(data), &e) == nil {
			h.mu.Lock()
			h.delays = append(h.delays, time.Since(e.Timestamp))
			h.mu.Unlock()
		}
	}
}

// hangUp ends all streams.
func (h *house) hangUp() {
	for _, c := range h.conns {
		_ = c.Close()
	}
	h.reading.Wait()
	h.conns = nil
}

func (h *house) close() {
	h.hangUp()
	_ = h.server.Close()
}
