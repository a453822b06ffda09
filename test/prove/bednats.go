package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// natsBed is a nats-server, a process of its own with its streams in a folder. Each tenant has a stream.
type natsBed struct {
	mu     sync.Mutex // of a crash
	server *stack.NATS
	conn   *nats.Conn
	js     jetstream.JetStream
}

func newNATSBed(ctx context.Context, built *programs, dir string) (_ *natsBed, err error) {
	program, err := built.of(ctx, natsServer)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(dir, "nats")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	b := &natsBed{}
	if b.server, err = stack.StartNATS(ctx, stack.NATSOptions{Program: program, Folder: folder}); err != nil {
		return nil, err
	}
	// It connects again for ever, and a request fails at once while it isn't connected.
	b.conn, err = nats.Connect(b.server.URL, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond),
		nats.ReconnectBufSize(-1), nats.Timeout(time.Minute))
	if err == nil {
		b.js, err = jetstream.New(b.conn, jetstream.WithDefaultTimeout(time.Minute))
	}
	if err != nil {
		return nil, errors.Join(err, b.stop())
	}
	return b, nil
}

func (b *natsBed) stop() error {
	if b.conn != nil {
		b.conn.Close()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.server.Stop()
}

func (*natsBed) name() string { return natsQueue }

// crashes: the server is killed, and started again with what its folder has.
func (b *natsBed) crashes() []crashes {
	return []crashes{{"kills of nats-server", []float64{.25, .5, .75}, func(ctx context.Context) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if err := b.server.Kill(); err != nil {
			return err
		}
		return b.server.Restart(ctx)
	}}}
}

// open makes the stream as an administrator does, before there is a worker.
func (b *natsBed) open(ctx context.Context, client string) (tenantQueues, error) {
	subject := natsSubject(client)
	stream, err := b.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: client, Retention: jetstream.WorkQueuePolicy, Subjects: []string{subject, subject + ".>"},
	})
	if err != nil {
		return nil, fmt.Errorf("create the stream %s: %w", client, err)
	}
	return &natsTenant{js: b.js, stream: stream, subject: subject}, nil
}

// natsSubject is that of a tenant's normal tasks.
func natsSubject(client string) string { return client + ".jobs" }

func (b *natsBed) address(at *addresses) { at.nats = b.server.URL }

func (*natsBed) settings(client string, at addresses) []string {
	return []string{"QUEUE_BACKEND=nats", "NATS_URL=" + at.nats, "NATS_SUBJECT=" + natsSubject(client)}
}

func (*natsBed) intercept(at *addresses, s *faultPlan) (queueProxy, error) {
	u, err := url.Parse(at.nats)
	if err != nil {
		return nil, err
	}
	p, err := newNATSProxy(u.Host, s)
	if err != nil {
		return nil, err
	}
	u.Host = p.addr
	at.nats = u.String()
	return p, nil
}

type natsTenant struct {
	js      jetstream.JetStream
	stream  jetstream.Stream
	subject string
}

// send gives up in time to be tried again: the answer of a server that is killed never comes.
func (t *natsTenant) send(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := t.js.Publish(ctx, t.subject, []byte(text))
	return err
}

func (t *natsTenant) dead() string { return t.subject + ".deadletter" }

// depth counts what is in the stream: an acknowledged message is removed from it.
func (t *natsTenant) depth(ctx context.Context) (n int, err error) {
	info, err := t.stream.Info(ctx, jetstream.WithSubjectFilter(">"))
	if err != nil {
		return 0, err
	}
	for subject, messages := range info.State.Subjects {
		if subject != t.dead() {
			n += int(messages)
		}
	}
	return n, nil
}

// hold makes the consumer as the first worker does.
func (t *natsTenant) hold(ctx context.Context) (stale func(context.Context) error, err error) {
	consumer, err := t.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "ocr-workers", FilterSubject: t.subject, AckPolicy: jetstream.AckExplicitPolicy, AckWait: holdFor,
		MaxDeliver: -1, MaxAckPending: -1,
	})
	if err != nil {
		return nil, err
	}
	batch, err := consumer.FetchNoWait(1)
	if err != nil {
		return nil, err
	}
	m, ok := <-batch.Messages()
	if !ok {
		return nil, errors.Join(errNoMessage, batch.Error())
	}
	return m.DoubleAck, nil
}

func (t *natsTenant) letters(ctx context.Context) (texts []string, err error) {
	for {
		m, err := t.stream.GetMsg(ctx, 0, jetstream.WithGetMsgSubject(t.dead()))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return texts, nil
		}
		if err == nil {
			err = t.stream.DeleteMsg(ctx, m.Sequence)
		}
		if err != nil {
			return texts, err
		}
		texts = append(texts, string(m.Data))
	}
}
