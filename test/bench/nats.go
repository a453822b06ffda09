package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	queuenats "github.com/seed-7227ef26/async-worker/queue/nats"
)

// natsBackend is a nats-server of its own process, and a connection of a client that is not ours.
type natsBackend struct {
	server *stack.NATS
	dir    string
	conn   *nats.Conn
	js     jetstream.JetStream
}

func startNATS(ctx context.Context) (b *natsBackend, err error) {
	dir, err := os.MkdirTemp("", "async-worker-bench-nats-")
	if err != nil {
		return nil, err
	}
	b = &natsBackend{dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	program, err := stack.BuildNATS(ctx, dir)
	if err != nil {
		return b, err
	}
	if b.server, err = stack.StartNATS(ctx, stack.NATSOptions{Program: program, Folder: dir}); err != nil {
		return b, err
	}
	if b.conn, err = nats.Connect(b.server.URL); err != nil {
		return b, err
	}
	b.js, err = jetstream.New(b.conn)
	return b, err
}

func (b *natsBackend) close() error {
	var err error
	if b.conn != nil {
		b.conn.Close()
	}
	if b.server != nil {
		err = b.server.Stop()
	}
	return errors.Join(err, os.RemoveAll(b.dir))
}

// subjects are as the daemon has them.
func subjects() map[string]string {
	names := task.QueueNames(client)
	return map[string]string{
		names.Normal: "simple-process.jobs", names.High: "simple-process.jobs.high",
		names.Low: "simple-process.jobs.low", names.DeadLetter: "simple-process.jobs.deadletter",
	}
}

func (b *natsBackend) open(_ context.Context, _ int, wake func()) (queue.Service, error) {
	return queuenats.Open(queuenats.Login{URL: b.server.URL}, queuenats.Options{
		Subjects: subjects(), Owner: client, Lease: time.Minute, OnMessage: wake,
	})
}

func (b *natsBackend) fill(ctx context.Context, name string, n int, text func(i int) string) error {
	subject := subjects()[name]
	if subject == "" || name == bareName { // the bare loop has a stream of its own, see ensureBare
		subject = name
	}
	// The client refuses to send when thousands wait for their confirmation for 200 ms, as on a busy machine.
	patient, sent := jetstream.WithStallWait(patience), make([]jetstream.PubAckFuture, n)
	for i := range sent {
		var err error
		if sent[i], err = b.js.PublishAsync(subject, []byte(text(i)), patient); err != nil {
			return err
		}
	}
	for _, one := range sent {
		select {
		case <-one.Ok():
		case err := <-one.Err():
			return fmt.Errorf("send to %s: %w", subject, err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// bare fetches as many messages as there are free slots, and acknowledges each with the server's confirmation.
func (b *natsBackend) bare(ctx context.Context, name string, n int) (took time.Duration, receives int, err error) {
	consumer, err := b.js.Consumer(ctx, "BARE", name)
	if err != nil {
		return 0, 0, err
	}
	started, running := time.Now(), newSlots()
	for got := 0; got < n && ctx.Err() == nil; {
		receives++
		batch, err := consumer.Fetch(min(running.free(), n-got))
		if err != nil {
			return 0, 0, fmt.Errorf("bare loop: %w", err)
		}
		for m := range batch.Messages() {
			got++
			running.run(func() error { return m.DoubleAck(ctx) })
		}
		if err := batch.Error(); err != nil {
			return 0, 0, fmt.Errorf("bare loop: %w", err)
		}
	}
	err = errors.Join(ctx.Err(), running.wait())
	return time.Since(started), receives, err
}

// ensureBare makes the bare loop's queue.
func (b *natsBackend) ensureBare(ctx context.Context) error {
	stream, err := b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: "BARE", Subjects: []string{bareName}, Retention: jetstream.WorkQueuePolicy,
	})
	if err == nil {
		_, err = stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
			Durable: bareName, AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute, MaxAckPending: -1,
		})
	}
	return err
}
