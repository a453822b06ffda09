package dashboard_test

import (
	"context"
	"net/http"
	"net/http/httptest"
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
		if got := time.Duration(s.within.Load()); w.Code != http.StatusOK || got < c.least || got > c.most {
			t.Errorf("%d: the database may take %v, want %v to %v", w.Code, got, c.least, c.most)
		}
	}
}
