package nats_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/nats"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// A consumer that an administrator made is corrected if it would not deliver whole messages, or refuse to.
func TestForeignConsumers(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, nil)
	for name, edit := range map[string]func(*jetstream.ConsumerConfig){
		"headers": func(c *jetstream.ConsumerConfig) { c.HeadersOnly = true },
		"backoff": func(c *jetstream.ConsumerConfig) { c.BackOff = []time.Duration{time.Minute, time.Second} },
		"batch":   func(c *jetstream.ConsumerConfig) { c.MaxRequestBatch = 1 },
		"expires": func(c *jetstream.ConsumerConfig) { c.MaxRequestExpires = time.Millisecond },
		"groups": func(c *jetstream.ConsumerConfig) {
			c.PriorityPolicy, c.PriorityGroups = jetstream.PriorityPolicyOverflow, []string{"a"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			subject := name + ".jobs"
			service := open(t, s, nats.Options{Owner: "acme", Subjects: map[string]string{"acme-tasks": subject}})
			t.Cleanup(func() { must(t, service.Close()) })
			q := service.Queue("acme-tasks")
			must(t, q.Ensure(t.Context()))
			js := natstest.Connect(t, s.URL())
			stream := strings.ToUpper(name) + "-JOBS"
			consumer, err := js.Consumer(t.Context(), stream, "ocr-workers")
			must(t, err)
			c := consumer.CachedInfo().Config
			edit(&c)
			_, err = js.UpdateConsumer(t.Context(), stream, c)
			must(t, err)
			must(t, q.Ensure(t.Context()))
			_, err = q.Send(t.Context(), "whole", queue.SendOptions{})
			must(t, err)
			if got := await(t, q, time.Minute); got.Text != "whole" {
				t.Errorf("got %q", got.Text)
			}
			consumer, err = js.Consumer(t.Context(), stream, "ocr-workers")
			must(t, err)
			if c := consumer.CachedInfo().Config; len(c.BackOff) > 0 {
				t.Errorf("it still has the backoff %v", c.BackOff)
			}
		})
	}
}

// A message that is larger than its stream allows is too large, as one that is larger than the server allows: the copy
// of a dead letter is shortened then.
func TestTooLargeForStream(t *testing.T) {
	t.Parallel()
	q, js := jobs(t, natstest.Start(t, nil), nats.Options{})
	stream, err := js.Stream(t.Context(), "SIMPLE-PROCESS-JOBS")
	must(t, err)
	c := stream.CachedInfo().Config
	c.MaxMsgSize = 1 << 10
	_, err = js.UpdateStream(t.Context(), c)
	must(t, err)
	if _, err := q.Send(t.Context(), strings.Repeat("x", 2<<10), queue.SendOptions{}); !errors.Is(err, queue.ErrTooLarge) {
		t.Error(err)
	}
}
