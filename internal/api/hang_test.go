package api_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
)

// mute is a queue that answers nothing until it is let.
type mute struct {
	queue.Queue
	let          chan struct{}
	looks, sends chan struct{} // have an element for each call
}

func (m *mute) Depth(context.Context) (int, error) {
	m.looks <- struct{}{}
	<-m.let
	return 0, context.Canceled
}

func (m *mute) Send(context.Context, string, queue.SendOptions) (string, error) {
	m.sends <- struct{}{}
	<-m.let
	return "", context.Canceled
}

// A queue that hangs leaves the API working: jobs are accepted, calls of the queue are bounded, and what is not sent is
// left to a sweep; also that of a replay and a retry.
func TestQueueHangs(t *testing.T) {
	t.Parallel()
	const jobs, mostSent = 40, 32
	var q *mute
	b := newBench(t, func(d *api.Deps) {
		q = &mute{d.Queue(task.PriorityNormal), make(chan struct{}), make(chan struct{}, jobs), make(chan struct{}, jobs)}
		d.Queue = func(task.Priority) queue.Queue { return q }
		d.Replayer.Queue = d.Queue
		d.QueueWait = time.Millisecond
	})
	t.Cleanup(func() { close(q.let) })
	b.server.Client().Timeout = time.Minute // a request that waits for the queue fails
	var all sync.WaitGroup
	for range jobs {
		all.Go(func() { b.want(b.ask("POST", "/v1/jobs", newFile()), http.StatusCreated, "") })
	}
	all.Wait()
	<-q.looks
	for range mostSent {
		<-q.sends
	}
	if looks, sends := len(q.looks), len(q.sends); looks+sends > 0 {
		t.Errorf("%d looks and %d sends too many", looks, sends)
	}
	if n := strings.Count(b.log.String(), "earlier ones are still being sent"); n != jobs-mostSent {
		t.Errorf("%d messages were left to the sweep, want %d", n, jobs-mostSent)
	}
	r := b.want(b.ask("GET", "/v1/jobs?limit=100", ""), http.StatusOK, "")
	if n := strings.Count(r.text, `"status":"pending"`); n != jobs {
		t.Errorf("%d jobs are listed, want %d", n, jobs)
	}
	if found, err := b.store.Sweep(t.Context(), store.SweepAges{}, 2*jobs); err != nil || len(found.Unsent) != jobs {
		t.Errorf("a sweep finds %d messages to send, %v; want %d", len(found.Unsent), err, jobs)
	}
	_, letter := b.failed()
	b.want(b.ask("POST", "/v1/dead-letters/"+letter+"/replay", ""), http.StatusAccepted, "")
	failed, _ := b.failed()
	b.want(b.ask("POST", "/v1/jobs/"+failed+"/retry", ""), http.StatusAccepted, "")
}
