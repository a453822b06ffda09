package nats_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/nats"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// TestRefusals: what the server can't take is told with its reason, and not as an outage.
func TestRefusals(t *testing.T) {
	t.Parallel()
	stream := jetstream.StreamConfig{
		Name: "tasks", Subjects: []string{"simple-process.>"}, Retention: jetstream.WorkQueuePolicy,
		Discard: jetstream.DiscardNew,
	}
	for name, c := range map[string]struct {
		edit  func(*jetstream.StreamConfig)
		push  bool // there is a push consumer of our name
		says  string
		lasts bool
	}{
		"messages":  {func(c *jetstream.StreamConfig) { c.MaxMsgs = 1 }, false, "the stream is full (max_msgs)", false},
		"bytes":     {func(c *jetstream.StreamConfig) { c.MaxBytes = 100 }, false, "the stream is full (max_bytes)", false},
		"consumers": {func(c *jetstream.StreamConfig) { c.MaxConsumers = 1 }, false, "raise max_consumers", true},
		"push":      {nil, true, "pushes messages", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, stream := natstest.Start(t, nil), stream
			if c.edit != nil {
				c.edit(&stream)
			}
			made, err := natstest.Connect(t, s.URL()).CreateStream(t.Context(), stream)
			must(t, err)
			if c.push {
				_, err = made.CreatePushConsumer(t.Context(), jetstream.ConsumerConfig{
					Durable: "ocr-workers", FilterSubject: "simple-process.jobs", DeliverSubject: "x",
				})
				must(t, err)
			}
			service := open(t, s, nats.Options{Subjects: map[string]string{
				"a": "simple-process.jobs", "b": "simple-process.jobs.high",
			}})
			t.Cleanup(func() { must(t, service.Close()) })
			err = errors.Join(service.Queue("a").Ensure(t.Context()), service.Queue("b").Ensure(t.Context()))
			for range 2 {
				if err == nil {
					_, err = service.Queue("a").Send(t.Context(), strings.Repeat("x", 20), queue.SendOptions{})
				}
			}
			if err == nil || errors.Is(err, queue.ErrSetting) != c.lasts {
				t.Fatal(err)
			}
			text := err.Error()
			if e, ok := errors.AsType[*taskerr.Error](err); ok {
				text += e.Hint
			}
			if !strings.Contains(text, c.says) || strings.Contains(text, "is the NATS server up") {
				t.Errorf("%s", text)
			}
			if strings.Contains(text, "is full") != strings.Contains(text, "dlq purge") {
				t.Errorf("a full stream, and no other fault, is mended by removing dead letters: %s", text)
			}
		})
	}
}
