package nats_test

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/nats"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
	"github.com/seed-7227ef26/async-worker/queue/queuetest"
)

// TestProcess: a nats-server of its own process, killed and started again, keeps the messages that it has confirmed,
// and the contract of a queue.
func TestProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, err := stack.BuildNATS(t.Context(), dir)
	must(t, err)
	s, err := stack.StartNATS(t.Context(), stack.NATSOptions{Program: program, Folder: dir})
	must(t, err)
	t.Cleanup(func() { must(t, s.Stop()) })
	back := make(chan struct{}, 9)
	service, err := nats.Open(nats.Login{URL: s.URL}, nats.Options{Timeout: natstest.Patience, OnConnection: func(up bool, _ error) {
		if up {
			back <- struct{}{}
		}
	}})
	must(t, err)
	t.Cleanup(func() { must(t, service.Close()) })
	q := service.Queue("acme-tasks")
	must(t, q.Ensure(t.Context()))
	<-back
	for _, text := range []string{"held", "waiting"} {
		_, err := q.Send(t.Context(), text, queue.SendOptions{})
		must(t, err)
	}
	held := await(t, q, time.Minute)
	must(t, s.Kill())
	must(t, s.Restart(t.Context()))
	<-back
	// The consumer's state reaches the disk a moment after its messages: the held one may come again.
	err = held.Lease.Delete(t.Context())
	if err != nil && !errors.Is(err, queue.ErrUncertain) {
		t.Error(err)
	}
	seen := map[string]bool{held.Text: true}
	for depth, err := q.Depth(t.Context()); depth > 0 || err != nil; depth, err = q.Depth(t.Context()) {
		must(t, err)
		m := await(t, q, time.Minute)
		seen[m.Text] = true
		must(t, m.Lease.Delete(t.Context()))
	}
	if !seen["held"] || !seen["waiting"] {
		t.Errorf("of two messages came %v", seen)
	}
	queuetest.Run(t, func(t *testing.T) queue.Service {
		service, err := nats.Open(nats.Login{URL: s.URL}, nats.Options{Timeout: natstest.Patience})
		must(t, err)
		return service
	}, queuetest.Options{})
}
