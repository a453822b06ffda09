package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	cloudevents "github.com/cloudevents/sdk-go/v2/event"
)

// sink takes CloudEvents in batches once it is up.
type sink struct {
	mu   sync.Mutex
	up   bool
	got  []cloudevents.Event
	seen map[string]bool
	news chan struct{}
}

func (s *sink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var batch []cloudevents.Event
	switch err := json.NewDecoder(r.Body).Decode(&batch); {
	case r.Header.Get("aeg-sas-key") != "the-key":
		w.WriteHeader(http.StatusUnauthorized)
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case !s.up:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if !s.up {
		return
	}
	for _, e := range batch {
		if !s.seen[e.ID()] {
			s.seen[e.ID()] = true
			s.got = append(s.got, e)
		}
	}
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// TestLifecycleEvents: a sink that is down delays no task; when the worker was killed meanwhile, the next one publishes
// everything, in order, and dead letters.
func TestLifecycleEvents(t *testing.T) {
	t.Parallel()
	s := &sink{seen: map[string]bool{}, news: make(chan struct{}, 1)}
	server := httptest.NewServer(s)
	defer server.Close()
	b := newBed(t, "LLM_PROVIDER=offline", "EVENTS_URL="+server.URL+"/api/events",
		"EVENTS_KEY=the-key")
	b.upload("note.txt", []byte("The harbour master keeps a record of every ship."))
	first := b.start()
	b.send(`{"task_id": "a", "task_type": "ingest", "webhook_url": "` + b.hooks.URL + `", "requested_by": "user-17",
		"payload": {"filename": "note.txt", "document_set": "e2e"}}`)
	b.await(b.ctx, "a")
	b.send(`{"task_id": "b", "task_type": "ingest", "webhook_url": "` + b.hooks.URL + `", "payload": "none"}`)
	b.await(b.ctx, "b")
	first.signal(syscall.SIGKILL)
	_ = first.exit()
	s.mu.Lock()
	s.up = true
	s.mu.Unlock()
	second := b.start()
	for {
		var types []string
		s.mu.Lock()
		for _, e := range s.got {
			types = append(types, e.Type())
		}
		s.mu.Unlock()
		if slices.Contains(types, "ingest.dlq") && slices.Contains(types, "ingest.job.completed") {
			break
		}
		select {
		case <-s.news:
		case <-b.ctx.Done():
			t.Fatalf("events %v", types)
		}
	}
	second.signal(syscall.SIGTERM)
	_ = second.exit()
	s.mu.Lock()
	defer s.mu.Unlock()
	var story []string
	for _, e := range s.got {
		if err := e.Validate(); err != nil || e.Source() != "async-worker/"+b.client {
			t.Errorf("%s: %v", e, err)
		}
		if e.Subject() == "a" {
			story = append(story, e.Type())
		}
	}
	last := len(story) - 1
	if story[0] != "ingest.job.started" || story[last] != "ingest.job.completed" || last < 2 ||
		slices.ContainsFunc(story[1:last], func(s string) bool { return s != "ingest.job.progress" }) {
		t.Errorf("the events of the job: %v", story)
	}
	expect(b, "events that wait", false, "select exists (select from event_publishers where lease_expires_at is not null)")
}

// TestCourse: a receiver that asks for it hears that a task starts, before its outcome is written.
func TestCourse(t *testing.T) {
	t.Parallel()
	b := newBed(t, "LLM_PROVIDER=offline")
	b.upload("note.txt", []byte("The harbour master keeps a record of every ship."))
	b.start()
	b.send(`{"task_id": "a", "task_type": "ingest", "webhook_url": "` + b.hooks.URL + `",
		"webhook_events": ["started", "progress"], "payload": {"filename": "note.txt", "document_set": "e2e"}}`)
	check := time.NewTicker(50 * time.Millisecond)
	defer check.Stop()
	for types := []string{}; !slices.Contains(types, "task.started") || !slices.Contains(types, "task.completed"); {
		select {
		case <-check.C:
		case <-b.ctx.Done():
			t.Fatalf("webhooks %v", types)
		}
		types = nil
		for _, d := range b.hooks.Deliveries(b.client, "a") {
			types = append(types, d.Type)
		}
	}
	expect(b, "webhooks of the start", 1, "select count(*)::int from webhook_deliveries where event = 'task.started'")
}
