package dashboard_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/dashboard"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// clocked is a store that records how long its list of jobs may take.
type clocked struct {
	store.Store
	within atomic.Int64
}

func (s *clocked) FindJobs(ctx context.Context, q store.JobQuery) (store.FoundJobs, error) {
	until, _ := ctx.Deadline()
	s.within.Store(int64(time.Until(until)))
	return s.Store.FindJobs(ctx, q)
}

// A page waits for the database for a few seconds, less than the server does for the page; pages of tests for minutes, as
// the database of a busy machine may be silent.
func TestPatience(t *testing.T) {
	t.Parallel()
	s := &clocked{}
	b := newBench(t, func(d *api.Deps) { s.Store, d.Store = d.Store, s })
	for _, c := range []struct {
		pages       http.Handler
		least, most time.Duration
	}{
		{b.pages, 5 * time.Minute, 10 * time.Minute},
		{b.withDefaults(nil), 0, dashboard.DefaultPatience},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, dashboard.Root+"/jobs", http.NoBody)
		r.AddCookie(&http.Cookie{Name: "async_worker_" + tenant, Value: b.tokens["operate"]})
		w := httptest.NewRecorder()
		c.pages.ServeHTTP(w, r)
		if got := time.Duration(s.within.Load()); got < c.least || got > c.most { // the database may be silent for longer
			t.Errorf("%d: the database may take %v, want %v to %v", w.Code, got, c.least, c.most)
		}
	}
}

// hanging is a store that answers no change for as long as its caller waits.
type hanging struct{ store.Store }

func hang(ctx context.Context) error {
	if _, bounded := ctx.Deadline(); !bounded {
		return errors.New("nobody bounds how long the caller waits")
	}
	<-ctx.Done()
	return ctx.Err()
}

func (hanging) Job(ctx context.Context, _ string) (store.Job, error) { return store.Job{}, hang(ctx) }

func (hanging) RequestCancel(ctx context.Context, _, _ string) (store.Job, error) {
	return store.Job{}, hang(ctx)
}

func (hanging) SubmitOnce(ctx context.Context, _ store.OnceSubmission) (store.OnceAnswer, error) {
	return store.OnceAnswer{}, hang(ctx)
}

func (hanging) Submit(ctx context.Context, _ store.Submission) (store.SubmitAnswer, error) {
	return store.SubmitAnswer{}, hang(ctx)
}

func (hanging) PlanRequeue(ctx context.Context, _ string) (store.RequeuePlan, error) {
	return store.RequeuePlan{}, hang(ctx)
}

func (hanging) DeadLetter(ctx context.Context, _ string) (store.DeadLetter, error) {
	return store.DeadLetter{}, hang(ctx)
}

func (hanging) Purge(ctx context.Context, _ []string, _ time.Duration) ([]string, error) {
	return nil, hang(ctx)
}

func (hanging) AddSchedule(ctx context.Context, _ store.Schedule) (store.Schedule, error) {
	return store.Schedule{}, hang(ctx)
}

// A change that the database does not answer gets an answer before the server closes the connection, and it does not ask
// to repeat what may have been done.
func TestPatienceOfChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) {
		h := hanging{d.Store}
		d.Store, d.Replayer.Store = h, h
	})
	pages := dashboard.New(dashboard.Deps{
		ClientID: tenant, API: b.api, Log: slog.New(slog.DiscardHandler), Patience: 10 * time.Millisecond,
	})
	schedule := url.Values{
		"id": {"daily"}, "cron": {"@daily"}, "time_zone": {"UTC"}, "overlap": {"skip"}, "catch_up": {"0"},
		"task": {`{"task_type":"ingest","payload":{"filename":"daily.pdf","document_set":"s"}}`},
	}
	for path, form := range map[string]string{
		"jobs/x/cancel": "", "jobs/x/retry": "", "dead-letters/" + noID + "/replay": "", "dead-letters/" + noID + "/delete": "",
		"ask": "prompt=Why", "new-schedule": schedule.Encode(),
	} {
		w, title := b.record(pages, path, form), "Not available"
		switch path { // the form, with what was written
		case "ask":
			title = "Why"
		case "new-schedule":
			title = "Add a schedule"
		}
		if text := plainOf(w.Body.String()); w.Code != http.StatusServiceUnavailable || !strings.Contains(text, title) ||
			!strings.Contains(text, "may have been done") || w.Header().Get("Retry-After") != "" {
			t.Errorf("%s: %d, %s", path, w.Code, text)
		}
	}
}
