package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// The stream of a job that has ended, and whose events have expired, is over: clients that connect again stop.
func TestStreamOfExpiredEvents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.submitted(newFile())
	b.complete(b.begun(id))
	path := "/v1/jobs/" + id + "/events"
	if gone, err := b.store.ExpireEvents(t.Context(), store.EventExpiry{Jobs: 10, Events: 100}); err != nil || gone.Events != 2 {
		t.Fatalf("expired %+v, %v", gone, err)
	}
	if c := b.connect(path); c.resp.StatusCode != http.StatusNoContent {
		t.Errorf("from the first event: %s", c.resp.Status)
	}
	c := b.connect(path, "Last-Event-ID", "1") // the client does not know that the job has ended
	m, ok := c.next()
	if !ok || m.event != "reset" || m.id == "" || !strings.Contains(m.data, `"status":"succeeded"`) {
		t.Errorf("after an event that has expired: %+v", m)
	}
	c.wantEnd()
	if again := b.connect(path, "Last-Event-ID", m.id); again.resp.StatusCode != http.StatusNoContent {
		t.Errorf("after the reset: %s", again.resp.Status)
	}
}
