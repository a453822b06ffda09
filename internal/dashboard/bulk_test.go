package dashboard_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/dashboard"
	"github.com/seed-7227ef26/async-worker/internal/front"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/queue"
)

// deadlines records how long the answer may take.
type deadlines struct {
	*httptest.ResponseRecorder
	within time.Duration
}

func (*deadlines) SetReadDeadline(time.Time) error { return nil }

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.within = time.Until(t)
	return nil
}

// tired is a store that does one change, and answers no other one in the time that the caller gives it.
type tired struct {
	store.Store

	mu     sync.Mutex
	done   int
	within []time.Duration // of the changes that are not answered
}

func (s *tired) change(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done++; s.done == 1 {
		return nil
	}
	until, _ := ctx.Deadline()
	s.within = append(s.within, time.Until(until))
	return context.DeadlineExceeded
}

func (s *tired) RequestCancel(ctx context.Context, id, by string) (store.Job, error) {
	if err := s.change(ctx); err != nil {
		return store.Job{}, err
	}
	return s.Store.RequestCancel(ctx, id, by)
}

func (s *tired) Replay(ctx context.Context, r store.Replay) (store.ReplayAnswer, error) {
	if err := s.change(ctx); err != nil {
		return store.ReplayAnswer{}, err
	}
	return s.Store.Replay(ctx, r)
}

// A change of many takes longer than the server lets a page take, and less than the proxy waits, which would end it in its
// middle. What became of it is told all the same: what was done, what was not answered, and what was not tried.
func TestBulkTakesItsTime(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct{ form, want string }{
		"change-jobs":         {"action=cancel&id=job-1&id=job-2&id=job-3", "Cancel: done for 1 of 3"},
		"dead-letters/replay": {"limit=3", "matched=3"},
	} {
		s := &tired{}
		b := newBench(t, func(d *api.Deps) {
			s.Store = d.Store
			d.Store, d.Replayer.Store = s, s
		})
		b.submit("job-1", "a.pdf")
		b.submit("job-2", "b.pdf")
		b.submit("job-3", "c.pdf")
		b.letters("one", "two", "three")
		w := b.record(b.withDefaults(nil), path, c.form)
		text := plainOf(w.Body.String())
		if w.Code >= http.StatusBadRequest || !strings.Contains(text+w.Header().Get("Location"), c.want) {
			t.Errorf("%s: %d, to %q: %s", path, w.Code, w.Header().Get("Location"), text)
		}
		if path == "change-jobs" && (strings.Count(text, "was not answered") != 1 || strings.Count(text, "was not tried") != 1) {
			t.Errorf("%s: %s", path, text)
		}
		if len(s.within) != 1 || s.within[0] < 30*time.Second || s.within[0] >= w.within || w.within >= front.AnswerLimit {
			t.Errorf("%s: changes may take %v, the answer %s, and the proxy waits %s", path, s.within, w.within, front.AnswerLimit)
		}
	}
}

// So does a run of the doctor.
func TestDoctorTakesItsTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var within time.Duration
	w := b.record(b.withDefaults(func(ctx context.Context) []dashboard.Check {
		until, _ := ctx.Deadline()
		within = time.Until(until)
		return sampleChecks
	}), "doctor", "")
	if w.Code != http.StatusOK || within < 30*time.Second || within >= w.within || w.within >= front.AnswerLimit {
		t.Errorf("%d: the checks may take %s, the answer %s, and the proxy waits %s", w.Code, within, w.within, front.AnswerLimit)
	}
}

// withDefaults are the pages with the time limits that users have.
func (b *bench) withDefaults(examine func(context.Context) []dashboard.Check) *dashboard.Dashboard {
	return dashboard.New(dashboard.Deps{
		ClientID: tenant, API: b.api, Health: func() dashboard.Health { return b.health }, Examine: examine,
		Log: slog.New(slog.DiscardHandler),
	})
}

// record answers a form that an operator sends.
func (b *bench) record(pages http.Handler, path, form string) *deadlines {
	b.Helper()
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, dashboard.Root+"/"+path, strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(&http.Cookie{Name: "async_worker_" + tenant, Value: b.tokens["operate"]})
	w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	pages.ServeHTTP(w, r)
	return w
}

// searched is a queue that counts the calls that look for messages.
type searched struct {
	queue.Queue
	receives atomic.Int64
}

func (s *searched) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	s.receives.Add(1)
	return s.Queue.Receive(ctx, n, visibility)
}

// One search finds the copies of all the dead letters whose jobs are retried together.
func TestBulkRetrySearchesOnce(t *testing.T) {
	t.Parallel()
	var dead *searched
	b := newBench(t, func(d *api.Deps) {
		dead = &searched{Queue: d.DeadLetters}
		d.DeadLetters = dead
	})
	if err := dead.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.letters("one", "two", "three", "four")
	letters, err := b.store.DeadLetters(t.Context(), store.DeadLetterFilter{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range letters {
		if _, err := dead.Send(t.Context(), `{"id":"`+l.ID+`"}`, queue.SendOptions{TTL: queue.Never}); err != nil {
			t.Fatal(err)
		}
	}
	v := b.visit("operate")
	v.want(v.post("change-jobs", "action", "retry", "id", "one", "id", "two", "id", "three", "id", "four"),
		http.StatusOK, "done for 4 of 4")
	left, err := dead.Depth(t.Context())
	if n := dead.receives.Load(); err != nil || left != 0 || n != 1 {
		t.Errorf("%d copies are left, %v; the queue was asked %d times, want once", left, err, n)
	}
}

// All jobs are changed only if that is asked for: not because the chosen ones have left the list, and not by a filter of
// which a part was not understood.
func TestBulkOfNone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.submit("one", "one.pdf")
	v := b.visit("operate")
	v.want(v.get("change-jobs?action=cancel&q="), http.StatusBadRequest, "No job is chosen")
	v.want(v.get("change-jobs?action=cancel&all=yes&q=status:unknown"), http.StatusBadRequest, "status is one of")
	v.want(v.get("change-jobs?action=cancel&all=yes&q=status:pending"), http.StatusOK, "Cancel 1 job?", "one.pdf")
}
