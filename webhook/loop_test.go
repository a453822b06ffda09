package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/webhook"
)

func TestLoopSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		hook := box.add("a", "https://a.example/x")
		hooks := always(webhook.Attempt{Status: 500, Response: "sorry"})
		_, stop := run(t, webhook.Config{Deliveries: box, Sender: hooks})
		advance(7 * 24 * time.Hour)
		stop()
		if got := box.state(hook); got.status != store.DeliveryFailed || got.Attempts != 10 ||
			!strings.Contains(got.history[9].Error, "last of 10 attempts") || got.history[0].Response != "sorry" {
			t.Errorf("got %+v", got)
		}
		waits := []time.Duration{
			5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
			10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
		}
		if len(hooks.sent) != len(waits)+1 {
			t.Fatalf("%d attempts, want %d", len(hooks.sent), len(waits)+1)
		}
		jittered := false
		for i, want := range waits {
			got := hooks.sent[i+1].Sub(hooks.sent[i])
			if got < want*9/10 || got > want*11/10 {
				t.Errorf("wait %d: got %s, want %s ± 10 %%", i, got, want)
			}
			jittered = jittered || got != want
		}
		if !jittered {
			t.Error("no jitter")
		}
	})
}

func TestLoopOutcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		attempt webhook.Attempt
		status  string
		least   time.Duration // until the next attempt
		most    time.Duration
		problem string
	}{
		"200": {webhook.Attempt{Status: 200}, store.DeliveryDelivered, 0, 0, ""},
		"204": {webhook.Attempt{Status: 204}, store.DeliveryDelivered, 0, 0, ""},
		"410": {webhook.Attempt{Status: 410}, store.DeliveryFailed, 0, 0, "410"},
		"404": {
			webhook.Attempt{Status: 404},
			store.DeliveryPending, 4 * time.Second,
			6 * time.Second, "404 Not Found",
		},
		"307": {
			webhook.Attempt{Status: 307},
			store.DeliveryPending, 4 * time.Second,
			6 * time.Second, "redirects are not followed",
		},
		"101": {
			webhook.Attempt{Status: 101},
			store.DeliveryPending, 4 * time.Second,
			6 * time.Second, "101",
		},
		"no answer": {
			webhook.Attempt{Err: errors.New("reset")},
			store.DeliveryPending, 4 * time.Second,
			6 * time.Second, "reset",
		},
		"refused": {
			webhook.Attempt{Err: &webhook.RefusedError{Subject: "the receiver", Problem: "p", Remedy: "r"}},
			store.DeliveryRefused, 0, 0, "the receiver p; r",
		},
		"Retry-After": {
			webhook.Attempt{Status: 503, RetryAfter: time.Hour},
			store.DeliveryPending,
			time.Hour, time.Hour, "503",
		},
		"Retry-After, short": {
			webhook.Attempt{Status: 429, RetryAfter: time.Second},
			store.DeliveryPending,
			4 * time.Second, 6 * time.Second, "429",
		},
		"Retry-After, too long": {
			webhook.Attempt{Status: 429, RetryAfter: 900 * time.Hour},
			store.DeliveryPending,
			24 * time.Hour, 24 * time.Hour, "429",
		},
		"delivered late, anyway": {
			webhook.Attempt{Status: 202, RetryAfter: time.Hour},
			store.DeliveryDelivered, 0, 0,
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				box := &outbox{}
				hook := box.add("a", "https://a.example/x")
				var seen []webhook.Observation
				_, stop := run(t, webhook.Config{
					Deliveries: box, Sender: always(c.attempt),
					Observe: func(o webhook.Observation) { seen = append(seen, o) },
				})
				synctest.Wait()
				stop()
				got := box.state(hook)
				if got.status != c.status || len(got.history) != 1 {
					t.Fatalf("got %+v", got)
				}
				o := got.history[0]
				if o.NextAfter < c.least || o.NextAfter > c.most || !strings.Contains(o.Error, c.problem) ||
					(c.problem == "") != (o.Error == "") {
					t.Errorf("got %+v", o)
				}
				if len(seen) != 1 || seen[0].Status != c.status || seen[0].Attempt != 1 ||
					seen[0].ResponseStatus != c.attempt.Status {
					t.Errorf("observed %+v", seen)
				}
			})
		})
	}
}

// An idle loop polls about once in its interval; Wake makes it poll at once.
func TestLoopIdleAndWake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		hooks := always(webhook.Attempt{Status: 200})
		loop, _ := run(t, webhook.Config{Deliveries: box, Sender: hooks, Poll: time.Minute})
		advance(10 * time.Hour)
		if n := box.claimed(); n < 450 || n > 850 {
			t.Errorf("%d claims in ten idle hours", n)
		}
		start := time.Now()
		hook := box.add("a", "https://a.example/")
		loop.Wake()
		loop.Wake()
		synctest.Wait()
		if got := box.state(hook); got.status != store.DeliveryDelivered || !got.ended.Equal(start) {
			t.Errorf("after Wake: got %+v", got)
		}
		// Without Wake (another process committed it) the next poll finds it.
		hook = box.add("b", "https://a.example/")
		advance(80 * time.Second)
		if got := box.state(hook); got.status != store.DeliveryDelivered {
			t.Errorf("without Wake: got %+v", got)
		}
	})
}

// A hanging receiver fills its own slots; others are served meanwhile.
func TestLoopSlowReceiver(t *testing.T) {
	t.Parallel()
	for _, ignoreSkip := range []bool{false, true} {
		t.Run(fmt.Sprintf("ignoreSkip=%t", ignoreSkip), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				box := &outbox{ignoreSkip: ignoreSkip}
				slow := 200
				if ignoreSkip {
					slow = 7 // such a store can be blocked, but the loop limits its own claims
				}
				for i := range slow {
					box.add(fmt.Sprintf("slow-%d", i), "https://slow.example/")
				}
				var fast []*row
				for i := range 50 {
					fast = append(fast, box.add(fmt.Sprintf("fast-%d", i), "https://fast.example/"))
				}
				hooks := &receivers{answer: func(ctx context.Context, d store.Delivery) webhook.Attempt {
					if strings.HasPrefix(d.ID, "slow") {
						time.Sleep(15 * time.Second)
						return webhook.Attempt{Err: context.DeadlineExceeded}
					}
					time.Sleep(50 * time.Millisecond)
					return webhook.Attempt{Status: 200}
				}}
				run(t, webhook.Config{Deliveries: box, Sender: hooks, Concurrency: 8, PerHost: 2})
				advance(5 * time.Second)
				for _, r := range fast {
					if got := box.state(r); got.status != store.DeliveryDelivered {
						t.Fatalf("%s waits for the slow receiver: %+v", r.ID, got)
					}
				}
				advance(2 * time.Hour)
				hooks.mu.Lock()
				defer hooks.mu.Unlock()
				if hooks.max[""] > 8 || hooks.max["slow.example"] > 2 || hooks.max["fast.example"] > 2 {
					t.Errorf("too many at once: %v", hooks.max)
				}
				tried := map[string]bool{}
				for _, id := range hooks.ids {
					tried[id] = true
				}
				if len(tried) != slow+50 {
					t.Errorf("%d of %d were tried", len(tried), slow+50)
				}
			})
		})
	}
}

// Two loops share an outbox: each delivery is sent once.
func TestLoopTwoWorkers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		box := &outbox{}
		for i := range 40 {
			box.add(fmt.Sprintf("%d", i), fmt.Sprintf("https://%d.example/", i%5))
		}
		hooks := &receivers{answer: func(context.Context, store.Delivery) webhook.Attempt {
			time.Sleep(time.Second)
			return webhook.Attempt{Status: 200}
		}}
		run(t, webhook.Config{Deliveries: box, Sender: hooks})
		run(t, webhook.Config{Deliveries: box, Sender: hooks})
		advance(time.Minute)
		if hooks.attempts() != 40 {
			t.Errorf("%d attempts at 40 deliveries", hooks.attempts())
		}
	})
}

// Logs name the host and nothing else of the URL.
func TestLoopLogs(t *testing.T) {
	t.Parallel()
	for _, a := range []webhook.Attempt{{Status: 200}, {Status: 500}, {Status: 410}, {Err: &webhook.RefusedError{}}} {
		synctest.Test(t, func(t *testing.T) {
			box := &outbox{}
			box.add("a", "https://A.example:8443/secret-path?token=secret-token")
			var log bytes.Buffer
			_, stop := run(t, webhook.Config{
				Deliveries: box, Sender: always(a), Log: slog.New(slog.NewTextHandler(&log, nil)),
			})
			synctest.Wait()
			stop()
			if text := log.String(); !strings.Contains(text, "host=a.example:8443") ||
				strings.Contains(text, "secret") {
				t.Errorf("%+v: logged %s", a, text)
			}
		})
	}
}

// End to end: a delivery is claimed, signed and sent to a real receiver, which verifies it.
func TestLoopOverTheWire(t *testing.T) {
	t.Parallel()
	verified := make(chan error, 1)
	server := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		verified <- verify(t, newSecret, []byte("{}"), r.Header)
	})
	box := &outbox{}
	box.add("msg-1", server.URL)
	settled := make(chan webhook.Observation, 1)
	_, stop := run(t, webhook.Config{
		Deliveries: box, Sender: newSender(t, webhook.SenderConfig{}),
		Observe: func(o webhook.Observation) { settled <- o },
	})
	if err := <-verified; err != nil {
		t.Error(err)
	}
	if o := <-settled; o.Status != store.DeliveryDelivered {
		t.Errorf("got %+v", o)
	}
	stop()
}

func TestNewLoopRefuses(t *testing.T) {
	t.Parallel()
	if _, err := webhook.NewLoop(webhook.Config{}); err == nil {
		t.Error("NewLoop accepted a config without a store")
	}
}
