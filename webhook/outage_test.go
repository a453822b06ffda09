package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook"
)

var unreachable = webhook.Attempt{Err: errors.New("connection refused"), Unreachable: true}

// logBuffer collects the log of several loops.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) log() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

func (b *logBuffer) count(part string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(b.text.String(), part)
}

// An outage of a receiver is logged once at its start and once at its end. All workers together probe the receiver with
// one delivery at a time. Soon after it answers it gets all waiting deliveries, within its share of slots.
func TestLoopReceiverDown(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]webhook.Attempt{
		"unreachable": unreachable, "gateway errors": {Status: 502},
		"timeouts": {Err: errors.New("the receiver took longer than 15s")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const hooks, lasts = 800, 10 * time.Minute
				box := &outbox{outages: map[string]outage{}}
				var rows []*row
				for i := range hooks {
					rows = append(rows, box.add(fmt.Sprint("hook-", i), fmt.Sprintf("https://a.example/%d", i%7)))
				}
				back := time.Now().Add(lasts)
				to := &receivers{answer: func(context.Context, store.Delivery) webhook.Attempt {
					time.Sleep(50 * time.Millisecond)
					if time.Now().Before(back) {
						return down
					}
					return webhook.Attempt{Status: 200}
				}}
				var log logBuffer
				for range 2 {
					run(t, webhook.Config{Deliveries: box, Sender: to, Log: log.log()})
				}
				advance(lasts - time.Second)
				if n := to.attempts(); n > 60 {
					t.Errorf("%d attempts while the receiver was down", n)
				}
				if began, ended := log.count("receiver is down"), log.count("answers again"); began != 1 || ended != 0 {
					t.Errorf("logged %d starts and %d ends", began, ended)
				}
				if n := log.count("level=WARN"); n > 9 { // the outage's, and those of the failures before it
					t.Errorf("%d warnings", n)
				}
				advance(lasts/10 + 30*time.Second) // the longest wait for a probe, and 800 deliveries, eight at a time
				late := 0
				for _, r := range rows {
					if got := box.state(r); got.status != store.DeliveryDelivered || got.Attempts > 3 {
						late++
					}
				}
				if late > 0 || log.count("answers again") != 1 {
					t.Errorf("%d are not delivered, or took more than three attempts; %d ends were logged", late,
						log.count("answers again"))
				}
				to.mu.Lock()
				defer to.mu.Unlock()
				if to.max["a.example"] > 8 { // four of each worker
					t.Errorf("%d at once", to.max["a.example"])
				}
			})
		})
	}
}

// A failing path, or a delivery that makes its receiver fail, doesn't delay others at the host.
func TestLoopBadURLDelaysNoOther(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]string{
		"another path":  "https://a.example/good",
		"the same path": "https://a.example/bad",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				box := &outbox{outages: map[string]outage{}}
				bad := 40
				if name == "the same path" {
					bad = 2
				}
				for i := range bad {
					box.add(fmt.Sprint("bad-", i), "https://a.example/bad")
				}
				var rows []*row
				for i := range 40 {
					rows = append(rows, box.add(fmt.Sprint("good-", i), good))
				}
				to := &receivers{answer: func(_ context.Context, d store.Delivery) webhook.Attempt {
					time.Sleep(50 * time.Millisecond)
					if strings.HasPrefix(d.ID, "bad") {
						return webhook.Attempt{Status: 500}
					}
					return webhook.Attempt{Status: 200}
				}}
				loop, _ := run(t, webhook.Config{Deliveries: box, Sender: to})
				for range 20 {
					rows = append(rows, box.add(fmt.Sprint("good-later-", len(rows)), good))
					loop.Wake()
					advance(time.Second)
				}
				for _, r := range rows {
					if got := box.state(r); got.status != store.DeliveryDelivered || got.Attempts != 1 {
						t.Fatalf("%s waits for others: %+v", r.ID, got)
					}
				}
			})
		})
	}
}

// Deliveries that fail for a reason of their own are tried by their schedule, however often others at their path end an
// outage.
func TestLoopEndOfAnOutageCostsNoAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{outages: map[string]outage{}}
		var rows []*row
		for i := range 8 {
			rows = append(rows, box.add(fmt.Sprint("bad-", i), "https://a.example/"))
		}
		to := &receivers{answer: func(_ context.Context, d store.Delivery) webhook.Attempt {
			time.Sleep(50 * time.Millisecond)
			if strings.HasPrefix(d.ID, "bad") {
				return webhook.Attempt{Status: 500}
			}
			return webhook.Attempt{Status: 200}
		}}
		loop, _ := run(t, webhook.Config{Deliveries: box, Sender: to})
		for i := range 35 {
			box.add(fmt.Sprint("good-", i), "https://a.example/")
			loop.Wake()
			advance(8 * time.Second)
		}
		for _, r := range rows { // at once, and after 5 s and 5 min
			if got := box.state(r); got.status != store.DeliveryPending || got.Attempts > 3 {
				t.Errorf("%s is %s after %d attempts in five minutes", r.ID, got.status, got.Attempts)
			}
		}
	})
}

// A delivery waits as long as its schedule takes, counted from the start of the outage, however old it is; then it is
// tried once more, and given up.
func TestLoopWaitsFromTheStartOfAnOutage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		down     time.Duration
		status   string
		attempts int
	}{
		"short": {time.Minute, store.DeliveryDelivered, 6},
		"long":  {70 * time.Hour, store.DeliveryDelivered, 6},
		"ever":  {100 * time.Hour, store.DeliveryFailed, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				box := &outbox{outages: map[string]outage{}}
				hook := box.add("hook", "https://a.example/")
				begins := time.Now().Add(95 * time.Hour) // after four answers that ask for a day each
				to := &receivers{answer: func(context.Context, store.Delivery) webhook.Attempt {
					switch now := time.Now(); {
					case now.Before(begins):
						return webhook.Attempt{Status: 429, RetryAfter: 24 * time.Hour}
					case now.Before(begins.Add(time.Hour + c.down)):
						return unreachable
					default:
						return webhook.Attempt{Status: 200}
					}
				}}
				run(t, webhook.Config{Deliveries: box, Sender: to})
				advance(97 * time.Hour)
				if got := box.state(hook); name != "short" && (got.status != store.DeliveryPending || got.waits == "") {
					t.Errorf("an hour after the start of the outage: %+v", got)
				}
				advance(80 * time.Hour)
				if got := box.state(hook); got.status != c.status || got.Attempts != c.attempts {
					t.Errorf("%s after %d attempts, want %s after %d", got.status, got.Attempts, c.status, c.attempts)
				}
			})
		})
	}
}

// A delivery that is sent once only begins no outage, because it ends with its attempt. The next that fails begins it.
func TestLoopOnceIsNotTheLastEvidence(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		once webhook.Attempt // of the one that is sent once only
		path string          // of the nth delivery
	}{
		"a path":            {webhook.Attempt{Status: 500}, "https://a.example/"},
		"a host":            {webhook.Attempt{Status: 500}, "https://a.example/%d"},
		"a host, no answer": {unreachable, "https://a.example/%d"},
		"a path, no answer": {unreachable, "https://a.example/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				box := &outbox{outages: map[string]outage{}}
				to := &receivers{answer: func(_ context.Context, d store.Delivery) webhook.Attempt {
					if d.Once {
						return c.once
					}
					return webhook.Attempt{Status: 500}
				}}
				var log logBuffer
				loop, _ := run(t, webhook.Config{Deliveries: box, Sender: to, Log: log.log()})
				for i, want := range []int{0, 0, 0, 1} {
					url := c.path
					if strings.Contains(url, "%d") {
						url = fmt.Sprintf(url, i)
					}
					box.addOnce(fmt.Sprint("hook-", i), url, i == 2)
					loop.Wake()
					advance(time.Second)
					if n := log.count("receiver is down"); n != want {
						t.Errorf("%d outages after %d failures, want %d", n, i+1, want)
					}
				}
			})
		})
	}
}

// An idle worker sends what a killed one had claimed within the lease and 15 s.
func TestLoopAfterAKill(t *testing.T) {
	t.Parallel()
	for _, lease := range []time.Duration{10 * time.Second, 30 * time.Second, time.Minute, time.Hour} {
		t.Run(lease.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				box := &outbox{}
				run(t, webhook.Config{Deliveries: box, Sender: always(webhook.Attempt{Status: 200}), Lease: lease})
				for kill := range 40 {
					advance(time.Duration(kill) * 7 * time.Second)
					hook := box.add(fmt.Sprint("hook-", kill), "https://a.example/")
					claimed, err := box.ClaimDeliveries(t.Context(), store.Claim{
						Worker: "killed", Max: 10, Lease: min(lease, time.Minute),
					})
					if err != nil || len(claimed.Deliveries) != 1 {
						t.Fatalf("%+v, %v", claimed, err)
					}
					advance(min(lease, time.Minute) + 15*time.Second)
					if got := box.state(hook); got.status != store.DeliveryDelivered {
						t.Fatalf("kill %d: %+v", kill, got)
					}
				}
			})
		})
	}
}

// A loop holds a claim while its attempt takes, however short the lease, and releases it at the end.
func TestLoopExtendsItsClaims(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		for i := range 12 {
			box.add(fmt.Sprint("hook-", i), "https://a.example/")
		}
		to := &receivers{answer: func(context.Context, store.Delivery) webhook.Attempt {
			time.Sleep(14 * time.Second)
			return webhook.Attempt{Status: 200}
		}}
		for range 2 {
			run(t, webhook.Config{Deliveries: box, Sender: to, Lease: 10 * time.Second, PerHost: 2})
		}
		advance(5 * time.Minute)
		if to.attempts() != 12 {
			t.Errorf("%d attempts at 12 deliveries", to.attempts())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		var rows []*row
		for i := range 8 {
			rows = append(rows, box.add(fmt.Sprint("hook-", i), "https://a.example/"))
		}
		slow := &receivers{answer: func(context.Context, store.Delivery) webhook.Attempt {
			time.Sleep(5 * time.Second)
			return webhook.Attempt{Status: 200}
		}}
		_, stop := run(t, webhook.Config{Deliveries: box, Sender: slow, PerHost: 2})
		advance(time.Second)
		stop()
		for _, r := range rows {
			if got := box.state(r); got.status == store.DeliveryPending && got.leased.After(time.Now()) {
				t.Errorf("an ended worker still holds the claim of %s", r.ID)
			}
		}
	})
}
