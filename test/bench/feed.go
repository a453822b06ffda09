package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"slices"
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
// the same without them. The listeners are a process of its own, on the same machine: tasks a second suffer from what it
// takes, the CPU time of the worker does not. One follower measures the delay.
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
	jobs := feed.Announce(opened, events, feed.Audience{})
	defer jobs.Close()
	h, err := newHouse(ctx, jobs, events)
	if err != nil {
		return err
	}
	defer h.close()
	var f feedFigures
	for round := range feedRounds {
		if err := f.round(ctx, out, azurite.ConnectionString, jobs, h, round); err != nil {
			return err
		}
	}
	return f.print(out)
}

// feedFigures are those of all rounds.
type feedFigures struct {
	alone, listened, share []float64 // tasks a second, and percent less
	cpuAlone, cpuListened  []float64 // of this process, ms a task
	cpuShare               []float64 // percent more
	perEvent               []float64 // µs of this process for an event and listener
	readers                []float64 // ms of the listeners' process, a task
	delays                 []time.Duration
}

// round measures tasks without listeners and with them, in an order that changes.
func (f *feedFigures) round(
	ctx context.Context, out io.Writer, azurite string, jobs store.Store, h *house, round int,
) error {
	var without, with figures
	var came listenReport
	var readers time.Duration
	alone := func() (err error) {
		without, err = workerRound(ctx, azureBackend{azurite}, jobs, feedTasks, 2*round)
		return err
	}
	listened := func() error {
		before := memoryTaken()
		l, err := h.listen(ctx, h.tokens[round])
		if err != nil {
			return err
		}
		if round == 0 {
			fmt.Fprintf(out, "%d listeners: %.1f KiB of memory each\n", feedWatchers+feedFollowers,
				float64(memoryTaken()-before)/1024/(feedWatchers+feedFollowers))
		}
		if with, err = workerRound(ctx, azureBackend{azurite}, jobs, feedTasks, 2*round+1); err != nil {
			return err
		}
		came, readers, err = l.hangUp()
		return err
	}
	order := []func() error{alone, listened}
	if round%2 == 1 {
		slices.Reverse(order)
	}
	for _, measure := range order {
		if err := measure(); err != nil {
			return err
		}
	}
	a, l := feedTasks/without.took.Seconds(), feedTasks/with.took.Seconds()
	f.alone, f.listened, f.share = append(f.alone, a), append(f.listened, l), append(f.share, 100*(1-l/a))
	ca, cl := without.cpu.Seconds()*1000/feedTasks, with.cpu.Seconds()*1000/feedTasks
	f.cpuAlone, f.cpuListened = append(f.cpuAlone, ca), append(f.cpuListened, cl)
	f.cpuShare = append(f.cpuShare, 100*(cl/ca-1))
	f.perEvent = append(f.perEvent, float64((with.cpu-without.cpu).Microseconds())/float64(max(came.Events, 1)))
	f.readers = append(f.readers, readers.Seconds()*1000/feedTasks)
	f.delays = append(f.delays, came.Delays...)
	return nil
}

func (f *feedFigures) print(out io.Writer) error {
	if len(f.delays) == 0 {
		return fmt.Errorf("no event came")
	}
	slices.Sort(f.delays)
	fmt.Fprintf(out, "an event from its row to its reader: p50 %v, p95 %v, most %v, of %d\n", ms(f.delays[len(f.delays)/2]),
		ms(f.delays[len(f.delays)*95/100]), ms(f.delays[len(f.delays)-1]), len(f.delays))
	fmt.Fprintf(out, "CPU of the worker: %.2f ms a task without, %.2f with them, %.1f %% more (rounds: %.1f); "+
		"%.1f µs an event and listener; of the listeners' own process: %.2f ms a task\n", median(f.cpuAlone),
		median(f.cpuListened), median(f.cpuShare), f.cpuShare, median(f.perEvent), median(f.readers))
	fmt.Fprintf(out, "tasks a second: %.0f without, %.0f with them, %.1f %% less (medians of %d rounds: %.1f; the aim is %d %%)\n",
		median(f.alone), median(f.listened), median(f.share), feedRounds, f.share, feedAim)
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
	tokens []string // one for each round: a token may open so many streams in a time
	server *http.Server
	addr   string
	ids    []string // of the watched jobs
}

func newHouse(ctx context.Context, jobs store.Store, events *feed.Feed) (*house, error) {
	var tokens []string
	var entries []apitoken.Token
	for round := range feedRounds {
		token, entry, err := apitoken.New(fmt.Sprintf("bench-%d", round), apitoken.Read)
		if err != nil {
			return nil, err
		}
		tokens, entries = append(tokens, token), append(entries, entry)
	}
	a, err := api.New(api.Deps{
		ClientID: client, Store: jobs, Feed: events, Log: slog.New(slog.DiscardHandler),
		Auth: api.Auth{Tokens: entries},
	})
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	h := &house{tokens: tokens, addr: l.Addr().String(), server: &http.Server{Handler: a, ReadHeaderTimeout: time.Minute}}
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

func (h *house) close() { _ = h.server.Close() }
