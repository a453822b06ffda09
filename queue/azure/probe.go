package azure

import (
	"context"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

var _ queue.Probing = (*azureQueue)(nil)

// Create implements queue.Probing.
func (q *azureQueue) Create(ctx context.Context) error {
	err := q.try(ctx, opEnsure, func(ctx context.Context) error {
		_, err := q.client.Create(ctx, nil)
		return err
	})
	if codeOf(err) == "QueueAlreadyExists" { // it has metadata
		return nil
	}
	return q.explain("create", err)
}

// SendHidden implements queue.Probing: the response to Put Message has a pop receipt.
// Source: https://learn.microsoft.com/rest/api/storageservices/put-message; the time to live must exceed the
// visibility timeout.
func (q *azureQueue) SendHidden(ctx context.Context, text string, hidden time.Duration) (queue.Lease, error) {
	seconds, err := wholeSeconds(hidden)
	if err != nil {
		return nil, err
	}
	ttl := seconds + 1
	var start time.Time
	var resp azqueue.EnqueueMessagesResponse
	err = q.try(ctx, opSend, func(ctx context.Context) (err error) {
		start = time.Now()
		resp, err = q.client.EnqueueMessage(withBody(ctx, text), text,
			&azqueue.EnqueueMessageOptions{TimeToLive: &ttl, VisibilityTimeout: &seconds})
		return err
	})
	if err != nil {
		return nil, q.explain("send to", err)
	}
	if len(resp.Messages) == 0 || resp.Messages[0] == nil || resp.Messages[0].MessageID == nil ||
		resp.Messages[0].PopReceipt == nil {
		return nil, taskerr.Errorf(taskerr.TransientStorage, "send to queue %q: the answer names no message", q.name)
	}
	m := resp.Messages[0]
	return newLease(q, *m.MessageID, *m.PopReceipt, start.Add(hidden)), nil
}

// noReceipt has the form of a pop receipt but belongs to no message.
const noReceipt = "AgAAAAMAAAAAAAAAAAAAAAAAAAA="

// Phantom implements queue.Probing.
func (q *azureQueue) Phantom() queue.Lease {
	return newLease(q, uuid.NewString(), noReceipt, time.Now())
}
