package nats_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/nats"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// An idle worker, which has looked once, hears of each message and finds it.
func TestAnnouncement(t *testing.T) {
	t.Parallel()
	heard := make(chan struct{}, 9)
	q, js := jobs(t, natstest.Start(t, nil), nats.Options{OnMessage: func() { heard <- struct{}{} }})
	if got, err := q.Receive(t.Context(), 1, time.Minute); len(got) != 0 || err != nil {
		t.Fatal(got, err)
	}
	for range 20 {
		_, err := js.Publish(t.Context(), "simple-process.jobs", []byte("x"))
		must(t, err)
		<-heard
		must(t, await(t, q, time.Minute).Lease.Delete(t.Context()))
	}
}

// Without the right to listen the worker says so once, and works by polling.
func TestDeaf(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "worker", Password: "p", Permissions: &server.Permissions{
			Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
		}}}
	})
	deaf := make(chan error, 9)
	service, err := nats.Open(nats.Login{URL: s.URL(), User: "worker", Password: "p"}, nats.Options{
		OnMessage: func() { t.Error("it heard of a message") }, OnDeaf: func(err error) { deaf <- err },
	})
	must(t, err)
	t.Cleanup(func() { must(t, service.Close()) })
	q, other := service.Queue("one"), service.Queue("two")
	for _, q := range []queue.Queue{q, other} {
		must(t, q.Ensure(t.Context()))
		_, err = q.Receive(t.Context(), 1, time.Minute)
		must(t, err)
	}
	<-deaf
	_, err = q.Send(t.Context(), "x", queue.SendOptions{})
	must(t, err)
	must(t, await(t, q, time.Minute).Lease.Delete(t.Context()))
	if len(deaf) > 0 {
		t.Error("it said so again")
	}
}

// TestReceiveIsSmall: an idle worker receives for ever, so a receive may not cost megabytes. It runs alone: all of the
// process counts.
func TestReceiveIsSmall(t *testing.T) {
	q, _ := jobs(t, natstest.Start(t, nil), nats.Options{OnMessage: func() {}})
	const receives, most = 100, 100 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range receives {
		_, err := q.Receive(t.Context(), queue.MaxBatch, time.Minute)
		must(t, err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("%d receives allocated %d MB", receives, got>>20)
	}
}
