package e2e

import (
	"flag"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// onQueue is what the tests' tasks come by. Blobs and jobs are the same on each.
var onQueue = flag.String("queue", "azure", "the queue of the tests: azure, nats or postgres; see make e2e")

// queues makes the tenant's queue and returns the worker's settings for it.
func (b *bed) queues() []string {
	b.t.Helper()
	switch *onQueue {
	case "azure":
		q := b.queue()
		if _, err := q.Create(b.ctx, nil); err != nil {
			b.t.Fatalf("create the queue: %v", err)
		}
		b.put = func(text string) error {
			_, err := q.EnqueueMessage(b.ctx, text, nil)
			return err
		}
		return nil
	case "nats":
		return b.natsQueues()
	case "postgres":
		b.put = func(text string) error {
			return b.run(`select aw_queue_send(jsonb_build_object('client_id', $1::text, 'queue', $1 || '-tasks',
				'text', $2::text))`, b.client, text)
		}
		if err := b.run(`select aw_queue_ensure(jsonb_build_object('client_id', $1::text, 'queue', $1 || '-tasks'))`,
			b.client); err != nil {
			b.t.Fatalf("create the queue: %v", err)
		}
		return []string{"QUEUE_BACKEND=postgres"}
	}
	b.t.Fatalf("-queue %s: want azure, nats or postgres", *onQueue)
	return nil
}

// natsQueues starts a server for this tenant, with a stream as an administrator makes it.
func (b *bed) natsQueues() []string {
	b.t.Helper()
	server := natstest.Start(b.t, nil)
	js := natstest.Connect(b.t, server.URL())
	b.stream(js)
	b.put = func(text string) error {
		_, err := js.Publish(b.ctx, "simple-process.jobs", []byte(text))
		return err
	}
	return []string{"QUEUE_BACKEND=nats", "NATS_URL=" + server.URL()}
}

// stream makes the stream of the tasks as an administrator does, before there is a worker.
func (b *bed) stream(js jetstream.JetStream) {
	b.t.Helper()
	if _, err := js.CreateStream(b.ctx, jetstream.StreamConfig{
		Name: "TASKS", Retention: jetstream.WorkQueuePolicy,
		Subjects: []string{"simple-process.jobs", "simple-process.jobs.>"},
	}); err != nil {
		b.t.Fatalf("create the stream: %v", err)
	}
}

// brings skips a test that brings queues of its own unless the tests run on Azure, where they all do.
func brings(t *testing.T) {
	t.Helper()
	if *onQueue != "azure" {
		t.Skipf("SKIPPED on -queue %s: the test brings its own queues, and runs on azure", *onQueue)
	}
}

// run executes one statement as the database's owner.
func (b *bed) run(sql string, args ...any) error {
	conn, err := pgx.Connect(b.ctx, b.database)
	if err != nil {
		return err
	}
	defer conn.Close(b.ctx)
	_, err = conn.Exec(b.ctx, sql, args...)
	return err
}
