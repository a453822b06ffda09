package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

const (
	pickUps   = 8 // samples of an idle worker's wait
	leastIdle = 2 * time.Second
	mostIdle  = 9 * time.Second
)

// counted is an Azurite behind a proxy that counts the requests.
type counted struct {
	*httptest.Server
	connection string
	requests   atomic.Int64
}

func countRequests(azurite *stack.Azurite) (*counted, error) {
	c := &counted{}
	for part := range strings.SplitSeq(azurite.ConnectionString, ";") {
		if address, ok := strings.CutPrefix(part, "QueueEndpoint="); ok {
			to, err := url.Parse(address)
			if err != nil {
				return nil, err
			}
			proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: to.Scheme, Host: to.Host})
			c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c.requests.Add(1)
				proxy.ServeHTTP(w, r)
			}))
			c.connection = strings.Replace(azurite.ConnectionString, "QueueEndpoint="+address, "QueueEndpoint="+c.URL+to.Path, 1)
		}
	}
	if c.Server == nil {
		return nil, errors.New("Azurite's connection string has no QueueEndpoint")
	}
	return c, nil
}

// waited is what an idle worker needed.
type waited struct {
	waits    []float64 // seconds
	requests float64   // a second, of the worker
}

// pickUp prints how soon an idle worker starts a task, and how many requests that costs. Both are measured at the same
// time, since they are idle for most of it.
func (b *peerBench) pickUp(ctx context.Context, azurite *stack.Azurite, celery *entrant) error {
	r, idle := rand.New(rand.NewPCG(22, 2)), make([]time.Duration, pickUps)
	for i := range idle {
		idle[i] = leastIdle + time.Duration(r.Int64N(int64(mostIdle-leastIdle)))
	}
	var ours, theirs waited
	group, inner := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		ours, err = b.pickUpOurs(inner, azurite, idle)
		return err
	})
	if len(celery.command) > 0 && celery.failed == nil {
		group.Go(func() (err error) {
			theirs, err = b.pickUpCelery(inner, azurite, celery, idle)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Fprintf(b.out, "\nFrom the client's call to the start of a task on an idle queue on Azurite, %d tasks after idle times "+
		"of %v to %v, both at the same time; median and range.\n\n", pickUps, leastIdle, mostIdle)
	t := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "seconds\trequests/s\t")
	fmt.Fprintf(t, "%s\t%.2f\tasync-worker, POLL_MAX_MS=10000, three queues, nobody wakes it\n",
		rangeOf(ours.waits).format(2), ours.requests)
	if len(theirs.waits) > 0 {
		fmt.Fprintf(t, "%s\t%.2f\tCelery, one queue\n", rangeOf(theirs.waits).format(2), theirs.requests)
	}
	return t.Flush()
}

// pickUpOurs measures the worker.
func (b *peerBench) pickUpOurs(ctx context.Context, azurite *stack.Azurite, idle []time.Duration) (w waited, err error) {
	c, err := countRequests(azurite)
	if err != nil {
		return w, err
	}
	defer c.Close()
	jobs, err := openJobs(ctx, b.pg, concurrency)
	if err != nil {
		return w, err
	}
	defer jobs.Close()
	r, err := newRig(ctx, c.connection, jobs, concurrency)
	if err != nil {
		return w, err
	}
	if err := r.start(ctx, len(idle)+1); err != nil {
		return w, err
	}
	defer stopping(&err, r.close)
	on, series := azureBackend{azurite.ConnectionString}, fmt.Sprint("pickup.", time.Now().UnixNano())
	return c.wait(ctx, idle, func(i int) (began, started time.Time, err error) {
		began = time.Now()
		if err := on.fill(ctx, normalQueue(), 1, func(int) string { return message(series, i, i) }); err != nil {
			return began, began, err
		}
		select {
		case started = <-r.counter.started:
			return began, started, nil
		case <-time.After(time.Minute):
			return began, began, errors.New("an idle worker did not start a task within a minute")
		}
	})
}

// pickUpCelery measures Celery: one process works, another is the client.
func (b *peerBench) pickUpCelery(ctx context.Context, azurite *stack.Azurite, celery *entrant, idle []time.Duration) (
	w waited, err error,
) {
	c, err := countRequests(azurite)
	if err != nil {
		return w, err
	}
	defer c.Close()
	python, script := celery.command[0], celery.command[1]
	worker, err := startPeer(ctx, peerTask{Queues: c.connection, Name: "pickup"}, python, script, "idle")
	if err != nil {
		return w, err
	}
	defer stopping(&err, worker.stop)
	sender, err := startPeer(ctx, peerTask{Queues: azurite.ConnectionString, Name: "pickup"}, python, script, "send")
	if err != nil {
		return w, err
	}
	defer stopping(&err, sender.stop)
	return c.wait(ctx, idle, func(int) (began, started time.Time, err error) {
		if began, err = sender.at("send"); err == nil {
			started, err = worker.at("")
		}
		return began, started, err
	})
}

// wait idles, sends and waits for the start, and counts the worker's requests meanwhile.
func (c *counted) wait(
	ctx context.Context, idle []time.Duration, send func(i int) (began, started time.Time, err error),
) (w waited, err error) {
	requests, since := c.requests.Load(), time.Now()
	for i, d := range idle {
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return w, ctx.Err()
		}
		began, started, err := send(i)
		if err != nil {
			return w, err
		}
		w.waits = append(w.waits, started.Sub(began).Seconds())
	}
	w.requests = float64(c.requests.Load()-requests) / time.Since(since).Seconds()
	return w, nil
}

// at sends a line, unless it is empty, and reads a time of the process's clock, which is this one's.
func (p *peerProcess) at(line string) (time.Time, error) {
	if line != "" {
		if _, err := fmt.Fprintln(p.in, line); err != nil {
			return time.Time{}, err
		}
	}
	text, err := p.lines.ReadString('\n')
	if err != nil {
		return time.Time{}, err
	}
	var at struct {
		At float64 `json:"at"` // seconds since 1970
	}
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return time.Time{}, fmt.Errorf("%q is not a time: %w", strings.TrimSpace(text), err)
	}
	return time.UnixMicro(int64(at.At * 1e6)), nil
}
