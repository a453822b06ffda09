package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// hanging is a store that answers nothing about jobs for as long as its caller waits.
type hanging struct{ store.Store }

func (hanging) Job(ctx context.Context, _ string) (store.Job, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		return store.Job{}, errors.New("nobody bounds how long the caller waits")
	}
	if !store.IsFromAPI(ctx) {
		return store.Job{}, errors.New("the call may take the engine's connections")
	}
	<-ctx.Done()
	return store.Job{}, ctx.Err()
}

func (h hanging) SubmitOnce(ctx context.Context, _ store.OnceSubmission) (store.OnceAnswer, error) {
	_, err := h.Job(ctx, "")
	return store.OnceAnswer{}, err
}

// A database that does not answer, because something locks its tables, does not leave a request without an answer: the
// server would close its connection. Nor does a model that is asked too much to embed the question of a search in time.
func TestPatience(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) {
		d.Store, d.Patience = hanging{d.Store}, 10*time.Millisecond
		d.Search = func(ctx context.Context, _ search.Store, _ search.Query) (search.Found, error) {
			<-ctx.Done()
			return search.Found{}, &search.EmbedError{Cause: context.Cause(ctx)}
		}
	})
	for _, call := range [][3]string{
		{"GET", "/v1/jobs/x", ""},
		{"GET", "/v1/jobs/x/events", ""},
		{"POST", "/v1/jobs", newFile()},
		{"POST", "/v1/jobs/x/cancel", ""},
		{"POST", "/v1/search", `{"query":"tide"}`},
	} {
		r := b.want(b.ask(call[0], call[1], call[2]), http.StatusServiceUnavailable, "UNAVAILABLE")
		if r.header.Get("Retry-After") == "" {
			t.Errorf("%s %s: no Retry-After", call[0], call[1])
		}
	}
	b.want(b.ask("PUT", "/v1/blobs/patience.md", "# It bounds itself"), http.StatusCreated, "")
}

// Full queues refuse jobs, and tell when to come again; they are looked at once in some seconds, however many submit.
func TestOverload(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) { d.HighWatermark = 10 })
	b.queue.setDepth(11)
	began := time.Now()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			r := b.want(b.ask("POST", "/v1/jobs", newFile()), http.StatusServiceUnavailable, "QUEUE_OVERLOADED")
			if r.header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		})
	}
	all.Wait()
	b.queue.mu.Lock()
	looks := b.queue.looks
	b.queue.mu.Unlock()
	if most := 3 * (1 + int(time.Since(began)/(5*time.Second))); looks > most {
		t.Errorf("%d looks at the queue for 20 requests, want %d at most", looks, most)
	}
}

// A request that was accepted before is answered again also while the queues are full; nothing is recorded of others.
func TestOverloadReplay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	byKey, byID := newFile(), strings.Replace(newFile(), "{", `{"id":"known",`, 1)
	first := b.want(b.ask("POST", "/v1/jobs", byKey, "Idempotency-Key", "k"), http.StatusCreated, "")
	b.submitted(byID)
	b.deps.HighWatermark = 10
	full, err := api.New(b.deps)
	if err != nil {
		t.Fatal(err)
	}
	b.queue.setDepth(11)
	calm, overloaded := b.base, httptest.NewServer(full)
	t.Cleanup(overloaded.Close)
	b.base = overloaded.URL
	again := b.want(b.ask("POST", "/v1/jobs", byKey, "Idempotency-Key", "k"), http.StatusOK, "")
	if again.text != first.text || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("replayed %s, was %s", again.text, first.text)
	}
	if r := b.want(b.ask("POST", "/v1/jobs", byID), http.StatusOK, ""); r.field("id") != "known" {
		t.Errorf("replayed %s", r.text)
	}
	b.want(b.ask("POST", "/v1/jobs", newFile(), "Idempotency-Key", "k"), http.StatusConflict, "IDEMPOTENCY_CONFLICT")
	b.complete(b.begun("known"))
	b.want(b.ask("POST", "/v1/jobs", strings.Replace(byID, "{", `{"hints":{"force":true},`, 1)), // another run
		http.StatusServiceUnavailable, "QUEUE_OVERLOADED")
	fresh := newFile()
	b.want(b.ask("POST", "/v1/jobs", fresh, "Idempotency-Key", "new"), http.StatusServiceUnavailable, "QUEUE_OVERLOADED")
	b.want(b.ask("POST", "/v1/jobs", newFile()), http.StatusServiceUnavailable, "QUEUE_OVERLOADED")
	b.base = calm // the refused one left no key
	b.want(b.ask("POST", "/v1/jobs", fresh, "Idempotency-Key", "new"), http.StatusCreated, "")
}
