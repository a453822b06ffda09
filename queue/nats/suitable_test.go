package nats_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/nats"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// A stream that an administrator made is used; one that keeps messages or confirms none is refused, as is another client's.
// What may lose tasks is told of, once.
func TestForeignStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit    func(*jetstream.StreamConfig)
		refused string
		risks   int
	}{
		"any name":      {nil, "", 0},
		"limits":        {func(c *jetstream.StreamConfig) { c.Retention = jetstream.LimitsPolicy }, "retention", 0},
		"no ack":        {func(c *jetstream.StreamConfig) { c.NoAck = true }, "set no_ack", 0},
		"messages":      {func(c *jetstream.StreamConfig) { c.MaxMsgs = 9 }, "", 1},
		"bytes":         {func(c *jetstream.StreamConfig) { c.MaxBytes = 9000 }, "", 1},
		"one each":      {func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 1 }, "", 1},
		"one each, new": {func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject, c.Discard = 1, jetstream.DiscardNew }, "", 1},
		"one each, refused": {func(c *jetstream.StreamConfig) {
			c.MaxMsgsPerSubject, c.Discard, c.DiscardNewPerSubject = 1, jetstream.DiscardNew, true
		}, "", 0},
		"full":       {func(c *jetstream.StreamConfig) { c.MaxMsgs, c.Discard = 9, jetstream.DiscardNew }, "", 0},
		"short age":  {func(c *jetstream.StreamConfig) { c.MaxAge = time.Minute }, "", 1},
		"a day":      {func(c *jetstream.StreamConfig) { c.MaxAge = 24 * time.Hour }, "", 1},
		"a month":    {func(c *jetstream.StreamConfig) { c.MaxAge = 30 * 24 * time.Hour }, "", 0},
		"memory":     {func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }, "", 1},
		"large":      {func(c *jetstream.StreamConfig) { c.MaxMsgSize = 64 << 10 }, "", 0},
		"small":      {func(c *jetstream.StreamConfig) { c.MaxMsgSize = 64<<10 - 1 }, "", 1},
		"no subject": {func(c *jetstream.StreamConfig) { c.Subjects = []string{"other"} }, "add the subject", 0},
		"another client's": {func(c *jetstream.StreamConfig) {
			c.Metadata = map[string]string{"async-worker-client": "southhaven"}
		}, "notes the client southhaven as its owner", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natstest.Start(t, nil)
			stream := jetstream.StreamConfig{
				Name: "tasks", Subjects: []string{"simple-process.>"}, Retention: jetstream.WorkQueuePolicy,
			}
			if c.edit != nil {
				c.edit(&stream)
			}
			if name == "no subject" {
				stream.Name = "SIMPLE-PROCESS-JOBS"
			}
			_, err := natstest.Connect(t, s.URL()).CreateStream(t.Context(), stream)
			must(t, err)
			risks := make(chan string, 9)
			service := open(t, s, nats.Options{
				Owner: "acme", Subjects: map[string]string{"a": "simple-process.jobs", "b": "simple-process.jobs.high"},
				OnRisk: func(risk string) { risks <- risk },
			})
			t.Cleanup(func() { must(t, service.Close()) })
			for _, q := range []string{"a", "b"} {
				err = service.Queue(q).Ensure(t.Context())
				_, wrong := errors.AsType[*nats.Misconfigured](err)
				if c.refused == "" && err != nil || c.refused != "" && (!wrong || !strings.Contains(err.Error(), c.refused)) {
					t.Errorf("got %v, want %q", err, c.refused)
				}
			}
			if len(risks) != c.risks {
				t.Errorf("%d risks, want %d", len(risks), c.risks)
			}
		})
	}
}

// A server that takes small messages only is told of, and a larger one is too large for the queue.
func TestSmallPayloads(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, func(o *server.Options) { o.MaxPayload = 8 << 10 })
	var risks []string
	q, _ := jobs(t, s, nats.Options{OnRisk: func(risk string) { risks = append(risks, risk) }})
	must(t, q.Ensure(t.Context()))
	if len(risks) != 1 || !strings.Contains(risks[0], "8192 bytes at most (max_payload)") {
		t.Errorf("told %q", risks)
	}
	if _, err := q.Send(t.Context(), strings.Repeat("x", 20<<10), queue.SendOptions{}); !errors.Is(err, queue.ErrTooLarge) {
		t.Error(err)
	}
}

// TestClosedByTheServer: an error that the client does not know, such as of a limit that was lowered meanwhile, closes its
// connection for good; the next request makes another, which knows the limit and hears of messages.
func TestClosedByTheServer(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, nil)
	news := make(chan struct{}, 100)
	lost, again := make(chan error, 10), make(chan bool, 10)
	q, js := jobs(t, s, nats.Options{OnMessage: func() { news <- struct{}{} }, OnConnection: func(up bool, err error) {
		if up {
			again <- true
		} else {
			lost <- err
		}
	}})
	<-again // the first
	_, err := q.Receive(t.Context(), 1, time.Minute)
	must(t, err)
	s.Reload(func(o *server.Options) { o.MaxPayload = 8 << 10 })
	large := strings.Repeat("x", 20<<10)
	if _, err := q.Send(t.Context(), large, queue.SendOptions{}); err == nil || errors.Is(err, queue.ErrTooLarge) {
		t.Errorf("by the connection that knows the former limit: %v", err)
	}
	if err := <-lost; err == nil || !strings.Contains(strings.ToLower(err.Error()), "maximum payload") {
		t.Errorf("lost because of %v", err)
	}
	if _, err := q.Send(t.Context(), large, queue.SendOptions{}); !errors.Is(err, queue.ErrTooLarge) {
		t.Errorf("by the next: %v", err)
	}
	<-again
	_, err = q.Receive(t.Context(), 1, time.Minute) // subscribes
	must(t, err)
	for len(news) > 0 {
		<-news
	}
	_, err = js.Publish(t.Context(), "simple-process.jobs", []byte("small"))
	must(t, err)
	<-news
	if m := await(t, q, time.Minute); m.Text != "small" {
		t.Errorf("received %q", m.Text)
	}
}

// TestConsumerOfOthers: a consumer that fits gets its owner noted; one of the same name for other messages keeps its
// filter.
func TestConsumerOfOthers(t *testing.T) {
	t.Parallel()
	const subject = "simple-process.jobs"
	for name, c := range map[string]struct {
		captured, filter, owner string
		refused                 string
	}{
		"fits":        {"simple-process.>", subject, "", ""},
		"own, other":  {"simple-process.>", "simple-process.before", "acme", ""},
		"none":        {"simple-process.>", "simple-process.other", "", "takes simple-process.other, and not simple-process.jobs"},
		"all":         {"simple-process.>", "", "", "takes all subjects, and not simple-process.jobs"},
		"all of ours": {subject, "", "", ""},
		"another's":   {"simple-process.>", subject, "southhaven", "belongs to the client southhaven"},
		"other, both": {"simple-process.>", "simple-process.other", "southhaven", "belongs to the client southhaven"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natstest.Start(t, nil)
			js := natstest.Connect(t, s.URL())
			stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
				Name: "tasks", Subjects: []string{c.captured}, Retention: jetstream.WorkQueuePolicy,
			})
			must(t, err)
			made := jetstream.ConsumerConfig{
				Durable: "ocr-workers", FilterSubject: c.filter, AckPolicy: jetstream.AckExplicitPolicy, MaxDeliver: -1,
				MaxAckPending: -1, AckWait: time.Minute, Description: "made by hand",
			}
			if c.owner != "" {
				made.Metadata = map[string]string{"async-worker-client": c.owner}
			}
			_, err = stream.CreateConsumer(t.Context(), made)
			must(t, err)
			service := open(t, s, nats.Options{Owner: "acme", Subjects: map[string]string{"a": subject}})
			t.Cleanup(func() { must(t, service.Close()) })
			err = service.Queue("a").Ensure(t.Context())
			if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
				t.Fatalf("got %v, want %q", err, c.refused)
			}
			consumer, err := stream.Consumer(t.Context(), "ocr-workers")
			must(t, err)
			got, owner, filter := consumer.CachedInfo().Config, "acme", subject
			if c.refused != "" {
				owner, filter = c.owner, c.filter
			}
			if got.Metadata["async-worker-client"] != owner || got.FilterSubject != filter {
				t.Errorf("owner %q, filter %q", got.Metadata["async-worker-client"], got.FilterSubject)
			}
			if c.filter == subject && got.Description != "made by hand" {
				t.Errorf("it was changed: %+v", got)
			}
		})
	}
}
