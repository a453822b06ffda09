package retry_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/retry"
)

var (
	errBusy   = errors.New("busy")
	errBroken = errors.New("broken")
	errStop   = errors.New("stop")
)

func TestDo(t *testing.T) {
	t.Parallel()
	policy := retry.Policy{Backoff: retry.Backoff{First: time.Second, Max: 4 * time.Second}}
	limited := func(change func(*retry.Policy)) retry.Policy {
		p := policy
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		policy retry.Policy
		fails  []error // the results of the calls; success after the last
		calls  int
		took   time.Duration
		err    error
	}{
		"at once": {policy, nil, 1, 0, nil},
		"after waits that double up to the longest": {
			policy, []error{errBusy, errBusy, errBusy, errBusy}, 5, 11 * time.Second, nil,
		},
		"not retryable": {
			limited(func(p *retry.Policy) { p.Retryable = func(err error) bool { return errors.Is(err, errBusy) } }),
			[]error{errBusy, errBroken},
			2, time.Second, errBroken,
		},
		"out of tries": {
			limited(func(p *retry.Policy) { p.Tries = 2 }),
			[]error{errBusy, errBroken},
			2, time.Second,
			errBroken,
		},
		"out of time": {
			limited(func(p *retry.Policy) { p.Time = 5 * time.Second }),
			[]error{errBusy, errBusy, errBusy},
			3,
			3 * time.Second, errBusy,
		},
		"as long as the other side asks": {
			limited(func(p *retry.Policy) { p.After = func(error) time.Duration { return 7 * time.Second } }),
			[]error{errBusy},
			2, 7 * time.Second, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, calls := time.Now(), 0
				_, err := retry.Do(t.Context(), c.policy, func() (struct{}, error) {
					calls++
					if calls <= len(c.fails) {
						return struct{}{}, c.fails[calls-1]
					}
					return struct{}{}, nil
				})
				if took := time.Since(began); calls != c.calls || took != c.took || !errors.Is(err, c.err) {
					t.Errorf("%d calls in %v ended with %v, want %d in %v with %v", calls, took, err, c.calls, c.took,
						c.err)
				}
			})
		})
	}
}

// A wait ends with its context.
func TestCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errStop) })
		began := time.Now()
		p := retry.Policy{Backoff: retry.Backoff{First: time.Minute}}
		_, err := retry.Do(ctx, p, func() (struct{}, error) { return struct{}{}, errBusy })
		if took := time.Since(began); !errors.Is(err, errBusy) || took != time.Second {
			t.Errorf("it ended after %v with %v", took, err)
		}
		for _, d := range []time.Duration{0, time.Minute} {
			if err := retry.Sleep(ctx, d); !errors.Is(err, errStop) {
				t.Errorf("a sleep of %v ended with %v", d, err)
			}
		}
	})
}

func TestJitter(t *testing.T) {
	t.Parallel()
	waits := retry.Backoff{First: time.Second, Max: time.Second, Jitter: 0.25}.Waits()
	for range 1000 {
		for _, d := range []time.Duration{waits.Next(), retry.Jitter(time.Second, 0.25)} {
			if d < 750*time.Millisecond || d > 1250*time.Millisecond {
				t.Fatalf("%v is not within a quarter of a second", d)
			}
		}
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		backoff retry.Backoff
		want    []time.Duration
	}{
		{retry.Backoff{First: 1, Max: 5}, []time.Duration{1, 2, 4, 5, 5}},
		{retry.Backoff{First: 100, Max: 300, Factor: 1.5}, []time.Duration{100, 150, 225, 300, 300}},
		{retry.Backoff{First: 7}, []time.Duration{7, 7}}, // no Max: no growth
	} {
		waits := c.backoff.Waits()
		for range 2 {
			for i, want := range c.want {
				if got := waits.Next(); got != want {
					t.Errorf("wait %d of %+v is %d, want %d", i, c.backoff, got, want)
				}
			}
			waits.Reset()
		}
	}
}

func TestAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const plain = "Retry-After"
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{plain, "7", 7 * time.Second},
		{plain, " 0.5 ", 500 * time.Millisecond},
		{plain, "1m2s", 62 * time.Second},
		{plain, "Sun, 01 Mar 2026 12:00:09 GMT", 9 * time.Second},
		{plain, "Sun, 01 Mar 2026 11:00:00 GMT", 0},
		{plain, "", 0},
		{plain, "-3", 0},
		{plain, "-3s", 0},
		{plain, "NaN", 0},
		{plain, "1e400", 0},
		{plain, "1e300", retry.MaxAfter},
		{plain, "soon", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"x-ms-retry-after-ms", "1500", 1500 * time.Millisecond},
	} {
		h := http.Header{}
		h.Set(c.name, c.value)
		if got := retry.After(h, now); got != c.want {
			t.Errorf("%s: %s is %v, want %v", c.name, c.value, got, c.want)
		}
	}
}
