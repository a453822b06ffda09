package cognee_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// quick is a loop whose waits are short also after twenty failures.
func (b *bed) quick() cognee.Config {
	cfg := b.config()
	cfg.FirstRetry = time.Nanosecond
	return cfg
}

// TestLoopOutageBehindProxy: what a proxy answers while Cognee is down counts for no document, no deletion and no dataset,
// however long it lasts.
func TestLoopOutageBehindProxy(t *testing.T) {
	t.Parallel()
	var off atomic.Bool
	b := newBed(t, cogneetest.Options{Fault: func(string, *http.Request) *cogneetest.Fault {
		if off.Load() {
			return &cogneetest.Fault{Status: http.StatusServiceUnavailable, Body: page}
		}
		return nil
	}})
	b.ingest("s", "a.pdf", "one")
	b.ingest("s", "b.pdf", "two")
	b.ingest("other", "c.pdf", "three")
	b.run(b.config(), b.settled)
	off.Store(true)
	b.ingest("s", "a.pdf", "one, changed")
	b.delete("s", "b.pdf")
	b.exec(`update cognee_documents set attempts = 22`)
	b.exec(`update cognee_datasets set attempts = 22, changes = changes + 1 where document_set = 'other'`)
	b.run(b.quick(), func() bool { return b.count(store.CogneeRetry) >= 12 || b.state().Failed > 0 })
	s := b.state()
	if s.DownSince == nil || s.Failed > 0 {
		t.Errorf("state %+v", s)
	}
	off.Store(false)
	b.run(b.quick(), func() bool { return b.settled() || b.state().Failed > 0 })
	b.equal()
	if s := b.state(); s.Failed > 0 || s.DownSince != nil || s.Datasets[0].State != "idle" || s.Datasets[1].State != "idle" {
		t.Errorf("state %+v", s)
	}
}

// TestLoopKiller: a document with which Cognee dies is uploaded as often as any other that fails, and the requests that
// fail while Cognee starts again cost it no further attempt.
func TestLoopKiller(t *testing.T) {
	t.Parallel()
	uploads, starting := 0, 0
	b := newBed(t, cogneetest.Options{Fault: func(endpoint string, r *http.Request) *cogneetest.Fault {
		if starting > 0 {
			starting--
			return &cogneetest.Fault{Status: http.StatusBadGateway, Body: page}
		}
		if endpoint == cogneetest.Add && r.ParseMultipartForm(1<<20) == nil &&
			strings.Contains(r.MultipartForm.Value["external_metadata"][0], "bad.pdf") {
			uploads++
			starting = 5
			return &cogneetest.Fault{Drop: true}
		}
		return nil
	}})
	bad := b.ingest("s", "bad.pdf", "the killer")
	b.exec(`update cognee_documents set attempts = 20`)
	for _, name := range []string{"1.pdf", "2.pdf", "3.pdf", "4.pdf", "5.pdf"} {
		b.ingest("s", name, "text of "+name)
	}
	b.run(b.quick(), func() bool { return b.settled() && b.state().DownSince == nil })
	s := b.state()
	if s.Failed != 1 || s.Troubled[0].DocumentID != bad || len(b.server.Rows()) != 5 || uploads != 4 {
		t.Errorf("%d uploads, %d rows, state %+v", uploads, len(b.server.Rows()), s)
	}
}

// TestLoopRefusesEverything: an answer that every request gets is an outage, and refuses no document.
func TestLoopRefusesEverything(t *testing.T) {
	t.Parallel()
	requests := 0
	b := newBed(t, cogneetest.Options{Fault: func(string, *http.Request) *cogneetest.Fault {
		if requests++; requests <= 12 {
			return &cogneetest.Fault{Status: http.StatusBadRequest, Body: "The plain HTTP request was sent to HTTPS port"}
		}
		return nil
	}})
	b.ingest("s", "a.pdf", "one")
	b.run(b.config(), b.settled)
	b.equal()
	if s := b.state(); s.Refused > 0 {
		t.Errorf("state %+v", s)
	}
}

// newStoppedBed has a document in Cognee, which answers everything by a page with a status from then on.
func newStoppedBed(t *testing.T, status int) *bed {
	t.Helper()
	var off atomic.Bool
	b := newBed(t, cogneetest.Options{Fault: func(string, *http.Request) *cogneetest.Fault {
		if off.Load() {
			return &cogneetest.Fault{Status: status, Body: page}
		}
		return nil
	}})
	b.ingest("s", "a.pdf", "one")
	b.run(b.config(), b.settled)
	off.Store(true)
	return b
}

// TestCognifyOutage: a 404 for every request is no answer about a dataset, and a dataset that waits for the end of an outage
// waits for nothing else.
func TestCognifyOutage(t *testing.T) {
	t.Parallel()
	b := newStoppedBed(t, http.StatusNotFound)
	for _, state := range []string{"idle", "running"} {
		b.exec(`update cognee_datasets set changes = done + 1, asked_at = now(), next_attempt_at = now(), state = '` + state + `'`)
		b.exec(`update cognee_targets set down_since = null, probe_at = null`)
		cfg := b.config()
		cfg.FirstRetry = time.Hour
		done := b.count(store.CognifyFailed)
		b.run(cfg, func() bool {
			s := b.state()
			return s.DownSince != nil || s.Datasets[0].State != state || b.count(store.CognifyFailed) > done
		})
		if s := b.state(); s.DownSince == nil || s.Datasets[0].State != state {
			t.Errorf("%s: state %+v", state, s)
		}
		b.exec(`update cognee_targets set probe_at = now()`)
		work, err := b.store.ClaimCognee(t.Context(), store.CogneeClaim{Worker: "w2", Max: 1, Lease: time.Millisecond, Gather: time.Hour})
		if err != nil || !work.Down || len(work.Datasets) != 1 {
			t.Errorf("%s: claimed %+v, %v", state, work, err)
		}
		b.exec(`update cognee_datasets set lease_expires_at = null`)
	}
}

// TestLoopLongList: a list of datasets that is too long to be read is an answer, and no outage.
func TestLoopLongList(t *testing.T) {
	t.Parallel()
	long := "[" + strings.Repeat(" ", 9<<20) + "]"
	b := newBed(t, cogneetest.Options{Fault: func(_ string, r *http.Request) *cogneetest.Fault {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/datasets") {
			return &cogneetest.Fault{Status: http.StatusOK, Body: long}
		}
		return nil
	}})
	b.ingest("s", "a.pdf", "one")
	b.exec(`update cognee_documents set attempts = 3`)
	b.run(b.config(), func() bool { return b.settled() || b.state().DownSince != nil })
	if s := b.state(); s.DownSince != nil {
		t.Errorf("state %+v", s)
	}
}

// TestRunningInAnOutage: a question about a run that takes too long costs nothing while Cognee answers none.
func TestRunningInAnOutage(t *testing.T) {
	t.Parallel()
	b := newStoppedBed(t, http.StatusServiceUnavailable)
	b.exec(`update cognee_datasets set changes = done + 1, asked_at = now() - interval '7 hours', next_attempt_at = now(), state = 'running'`)
	failed := b.count(store.CognifyFailed)
	b.run(b.config(), func() bool { return b.state().DownSince != nil || b.count(store.CognifyFailed) > failed })
	if s := b.state(); s.DownSince == nil || s.Datasets[0].State != "running" {
		t.Errorf("state %+v", s)
	}
}

// renewals is a store that tells when the claim of a probe is renewed.
type renewals struct {
	store.Cognee
	ofProbe func()
}

func (s renewals) ExtendCognee(ctx context.Context, held store.CogneeHeld, lease time.Duration) (store.CogneeKept, error) {
	if held.Probe {
		s.ofProbe()
	}
	return s.Cognee.ExtendCognee(ctx, held, lease)
}

// TestLoopHangingProbe: the database learns that a probe goes on, so that it has the next one wait.
func TestLoopHangingProbe(t *testing.T) {
	t.Parallel()
	renewed, requests := make(chan struct{}), 0
	b := newBed(t, cogneetest.Options{Fault: func(string, *http.Request) *cogneetest.Fault {
		switch requests++; {
		case requests <= 2: // a document, and whether it is the document
			return &cogneetest.Fault{Status: http.StatusUnauthorized}
		case requests == 3:
			return &cogneetest.Fault{Status: http.StatusUnauthorized, Wait: func() {
				select {
				case <-renewed:
				case <-time.After(5 * time.Minute): // else it would wait for ever
					t.Error("the claim was not renewed as a probe's")
				}
			}}
		}
		return nil
	}})
	b.ingest("s", "a.pdf", "one")
	cfg := b.config()
	cfg.Store, cfg.Renew = renewals{b.store, sync.OnceFunc(func() { close(renewed) })}, 10*time.Millisecond
	b.run(cfg, b.settled)
	b.equal()
}
