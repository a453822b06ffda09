package main

import (
	"context"
	"time"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/queue"
	queueazure "github.com/seed-7227ef26/async-worker/queue/azure"
)

// backend is a queue under measurement, and how a client of it that is not ours works.
type backend interface {
	// open opens it as the daemon does. Where the queue tells of new messages, wake is called for them until ctx ends.
	open(ctx context.Context, tasks int, wake func()) (queue.Service, error)
	// fill puts n texts on a queue, which exists.
	fill(ctx context.Context, queue string, n int, text func(i int) string) error
	// ensureBare makes the queue of the bare loop.
	ensureBare(ctx context.Context) error
	// bare only receives and deletes n messages of a queue: the upper bound for any worker. It counts its receives.
	bare(ctx context.Context, queue string, n int) (took time.Duration, receives int, err error)
	close() error
}

// azureBackend is Azure's queue protocol: Azurite, or the stub.
type azureBackend struct{ connection string }

func (b azureBackend) open(_ context.Context, tasks int, _ func()) (queue.Service, error) {
	creds, err := storage.FromConnectionString(b.connection)
	if err != nil {
		return nil, err
	}
	return queueazure.Open(creds, queueazure.Options{Concurrency: tasks + queue.MaxBatch})
}

func (b azureBackend) fill(ctx context.Context, name string, n int, text func(i int) string) error {
	q, err := bareQueue(b.connection, name)
	if err != nil {
		return err
	}
	return fill(ctx, q, n, text)
}

func (b azureBackend) bare(ctx context.Context, name string, n int) (time.Duration, int, error) {
	q, err := bareQueue(b.connection, name)
	if err != nil {
		return 0, 0, err
	}
	return bareLoop(ctx, q, n)
}

func (b azureBackend) ensureBare(ctx context.Context) error {
	q, err := bareQueue(b.connection, bareName)
	if err == nil {
		_, err = q.Create(ctx, nil)
	}
	return err
}

func (azureBackend) close() error { return nil }

// slots runs at most concurrency of the bare loops' deletes at a time, beside the receives.
type slots struct {
	taken chan struct{}
	fails chan error
}

func newSlots() slots {
	return slots{make(chan struct{}, concurrency), make(chan error, 1)}
}

// free waits until there is a free slot and returns how many there are.
func (s slots) free() int {
	s.taken <- struct{}{}
	<-s.taken
	return concurrency - len(s.taken)
}

func (s slots) run(do func() error) {
	s.taken <- struct{}{}
	go func() {
		defer func() { <-s.taken }()
		if err := do(); err != nil {
			select {
			case s.fails <- err:
			default:
			}
		}
	}()
}

// wait returns the first error, after all have ended.
func (s slots) wait() error {
	for range concurrency {
		s.taken <- struct{}{}
	}
	select {
	case err := <-s.fails:
		return err
	default:
		return nil
	}
}

// normalQueue is where the worker's tasks are.
func normalQueue() string { return task.QueueNames(client).Normal }

// bareName is where the bare loop's messages are: aw_queue_ensure takes the names of a client's own queues alone, and the
// worker's tasks are in the normal one.
const bareName = client + "-tasks-low"
