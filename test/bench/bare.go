package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"golang.org/x/sync/errgroup"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
)

// concurrency of the worker and of the bare loop.
const concurrency = 32

// bareQueue is the SDK's own client, with a connection pool as large as the worker's.
func bareQueue(connection, name string) (*azqueue.QueueClient, error) {
	creds, err := storage.FromConnectionString(connection)
	if err != nil {
		return nil, err
	}
	service, err := creds.QueueService(azcore.ClientOptions{})
	if err != nil {
		return nil, err
	}
	return service.NewQueueClient(name), nil
}

// fill puts n texts on a queue, several at a time.
func fill(ctx context.Context, q *azqueue.QueueClient, n int, text func(i int) string) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range n {
		group.Go(func() error {
			_, err := q.EnqueueMessage(ctx, text(i), nil)
			return err
		})
	}
	return group.Wait()
}

// bareLoop only receives and deletes n messages: the upper bound for any worker. It also counts its receives.
func bareLoop(ctx context.Context, q *azqueue.QueueClient, n int) (took time.Duration, receives int, err error) {
	started := time.Now()
	slots := make(chan struct{}, concurrency)
	var deletes sync.WaitGroup
	var failed error
	var once sync.Once
	for got := 0; got < n; {
		free := min(int32(concurrency-len(slots)), 32)
		if free == 0 {
			slots <- struct{}{} // wait for a free slot
			<-slots
			continue
		}
		visibility := int32(60)
		receives++
		batch, err := q.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
			NumberOfMessages: &free, VisibilityTimeout: &visibility,
		})
		if err != nil {
			return 0, 0, fmt.Errorf("bare loop: %w", err)
		}
		for _, m := range batch.Messages {
			got++
			slots <- struct{}{}
			deletes.Go(func() {
				defer func() { <-slots }()
				if _, err := q.DeleteMessage(ctx, *m.MessageID, *m.PopReceipt, nil); err != nil {
					once.Do(func() { failed = err })
				}
			})
		}
	}
	deletes.Wait()
	return time.Since(started), receives, failed
}
