package azure_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/azure"
)

// fault is a transport that a test can replace.
type fault struct {
	next http.RoundTripper
	at   atomic.Pointer[func(req *http.Request, next http.RoundTripper) (*http.Response, error)]
}

func (f *fault) RoundTrip(req *http.Request) (*http.Response, error) {
	if at := f.at.Load(); at != nil {
		return (*at)(req, f.next)
	}
	return f.next.RoundTrip(req)
}

func (f *fault) CloseIdleConnections() { (&http.Client{Transport: f.next}).CloseIdleConnections() }

func (f *fault) do(at func(req *http.Request, next http.RoundTripper) (*http.Response, error)) {
	f.at.Store(&at)
}

func (f *fault) heal() { f.at.Store(nil) }

// loseAnswers sends a request and then reports a broken connection.
func loseAnswers(req *http.Request, next http.RoundTripper) (*http.Response, error) {
	resp, err := next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return nil, io.ErrUnexpectedEOF
}

func answer(req *http.Request, status int, code string, date time.Time) *http.Response {
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"X-Ms-Error-Code": {code}, "Date": {date.UTC().Format(http.TimeFormat)}},
		Body: io.NopCloser(strings.NewReader("<Error><Code>" + code +
			"</Code><AuthenticationErrorDetail>signed: topsecret</AuthenticationErrorDetail></Error>")),
	}
}

// faulty opens a queue behind a fault.
func faulty(t *testing.T) (queue.Queue, *fault, *counter) {
	t.Helper()
	c := &counter{n: map[string]int{}}
	f := &fault{next: storage.Transport(4)}
	s := open(t, stacktest.Azurite(t), azure.Options{Transport: f, OnRequest: c.count})
	t.Cleanup(func() { _ = s.Close() })
	q := s.Queue(stacktest.UniqueName("fault"))
	must(t, q.Ensure(t.Context()))
	return q, f, c
}

type counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counter) count(op, outcome string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[op+" "+outcome]++
}

func (c *counter) want(t *testing.T, what string, n int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n[what] != n {
		t.Errorf("%q was counted %d times, want %d; all: %v", what, c.n[what], n, c.n)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sendOne(t *testing.T, q queue.Queue, text string) *queue.Message {
	t.Helper()
	_, err := q.Send(t.Context(), text, queue.SendOptions{})
	must(t, err)
	got, err := q.Receive(t.Context(), 1, time.Minute)
	must(t, err)
	if len(got) != 1 {
		t.Fatalf("received %d messages, want 1", len(got))
	}
	return got[0]
}

func TestALostAnswerToARenewalIsUncertain(t *testing.T) {
	t.Parallel()
	q, f, c := faulty(t)
	m := sendOne(t, q, "x")
	deadline := m.Lease.Deadline()
	f.do(loseAnswers)
	if err := m.Lease.Extend(t.Context(), time.Hour); !errors.Is(err, queue.ErrUncertain) ||
		errors.Is(err, queue.ErrLeaseLost) {
		t.Fatalf("got %v, want ErrUncertain", err)
	}
	c.want(t, "extend uncertain", 1) // not sent again: the receipt is dead
	if !m.Lease.Deadline().Equal(deadline) {
		t.Error("an uncertain renewal moved the deadline")
	}
	f.heal()
	if err := m.Lease.Extend(t.Context(), time.Hour); !errors.Is(err, queue.ErrUncertain) {
		t.Errorf("the next renewal: got %v, want ErrUncertain, because the receipt was lost and not the lease", err)
	}
	// Nobody else can have it, but it can't be deleted either. It is redelivered and then found to be done.
	if err := m.Lease.Delete(t.Context()); !errors.Is(err, queue.ErrUncertain) {
		t.Errorf("deleting: got %v, want ErrUncertain", err)
	}
}

func TestARenewalThatWasNotCarriedOutCanBeRepeated(t *testing.T) {
	t.Parallel()
	q, f, _ := faulty(t)
	m := sendOne(t, q, "x")
	f.do(func(*http.Request, http.RoundTripper) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })
	if err := m.Lease.Extend(t.Context(), time.Hour); !errors.Is(err, queue.ErrUncertain) {
		t.Fatalf("got %v, want ErrUncertain", err)
	}
	f.heal()
	must(t, m.Lease.Extend(t.Context(), time.Hour))
	must(t, m.Lease.Delete(t.Context()))
}

func TestADeleteWithoutAnAnswerIsRepeated(t *testing.T) {
	t.Parallel()
	q, f, c := faulty(t)
	m := sendOne(t, q, "x")
	var once atomic.Bool
	f.do(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		if once.CompareAndSwap(false, true) {
			return loseAnswers(req, next)
		}
		return next.RoundTrip(req)
	})
	must(t, m.Lease.Delete(t.Context()))
	c.want(t, "delete uncertain", 1)
	if depth, err := q.Depth(t.Context()); err != nil || depth != 0 {
		t.Errorf("depth %d, %v", depth, err)
	}
}

func TestABusyServiceIsAskedAgain(t *testing.T) {
	t.Parallel()
	q, f, c := faulty(t)
	_, err := q.Send(t.Context(), "x", queue.SendOptions{})
	must(t, err)
	var calls atomic.Int64
	f.do(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		if calls.Add(1) < 3 {
			return answer(req, http.StatusServiceUnavailable, "ServerBusy", time.Now()), nil
		}
		return next.RoundTrip(req)
	})
	if got, err := q.Receive(t.Context(), 1, time.Minute); err != nil || len(got) != 1 {
		t.Errorf("received %d, %v", len(got), err)
	}
	c.want(t, "receive throttled", 2)
	f.do(func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		return answer(req, http.StatusServiceUnavailable, "ServerBusy", time.Now()), nil
	})
	_, err = q.Receive(t.Context(), 1, time.Minute)
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.TransientStorage {
		t.Errorf("got %v, want transient_storage", err)
	}
	c.want(t, "receive throttled", 5)
}
