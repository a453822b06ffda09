package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Azure's limits.
// Source: https://learn.microsoft.com/rest/api/storageservices/get-messages and put-message.
const (
	maxVisibility = 7 * 24 * time.Hour
	maxText       = 64 << 10 // bytes, as stored
	// cautious is how many receives request only one message after a batch that couldn't be parsed.
	cautious = 2 * queue.MaxBatch
)

type azureQueue struct {
	*service
	name   string
	client *azqueue.QueueClient
	// singly counts down the receives that request only one message.
	singly atomic.Int32
}

// Name implements queue.Queue.
func (q *azureQueue) Name() string { return q.name }

// Ensure implements queue.Queue. An identity that may use but not create queues needs no more if the queue exists.
func (q *azureQueue) Ensure(ctx context.Context) error {
	err := q.try(ctx, opEnsure, func(ctx context.Context) error {
		_, err := q.client.Create(ctx, nil)
		return err
	})
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		switch {
		case answer.ErrorCode == "QueueAlreadyExists": // it has metadata
			return nil
		case answer.StatusCode == http.StatusForbidden:
			if _, depthErr := q.Depth(ctx); depthErr == nil {
				return nil
			}
		}
	}
	return q.explain("create", err)
}

// Receive implements queue.Queue. It is sent once: a second request after a lost response would hide a second batch
// while nobody works on the first.
func (q *azureQueue) Receive(ctx context.Context, n int, visibility time.Duration) ([]*queue.Message, error) {
	if n < 1 || n > queue.MaxBatch {
		return nil, fmt.Errorf("receive from queue %q: %d messages: want 1-%d", q.name, n, queue.MaxBatch)
	}
	seconds, err := wholeSeconds(visibility)
	if err != nil || seconds < 1 {
		return nil, fmt.Errorf("receive from queue %q: visibility %s: want 1 s to 7 days", q.name, visibility)
	}
	if q.singly.Load() > 0 {
		q.singly.Add(-1)
		n = 1
	}
	count := int32(n)
	var start time.Time
	var resp azqueue.DequeueMessagesResponse
	err = q.try(ctx, opReceive, func(ctx context.Context) error {
		start = time.Now()
		resp, err = q.client.DequeueMessages(ctx, &azqueue.DequeueMessagesOptions{
			NumberOfMessages: &count, VisibilityTimeout: &seconds,
		})
		return err
	})
	if isUnreadable(err) {
		q.singly.Store(cautious)
		return nil, taskerr.Errorf(taskerr.TransientStorage,
			"receive from queue %q: the answer can't be read, its messages come back in %s, asking for one at a "+
				"time for a while", q.name, visibility)
	}
	if err != nil {
		return nil, q.explain("receive from", err)
	}
	deadline := start.Add(time.Duration(seconds) * time.Second)
	messages := make([]*queue.Message, 0, len(resp.Messages))
	for _, m := range resp.Messages {
		if m == nil || m.MessageID == nil || m.PopReceipt == nil {
			continue // unusable; it becomes visible again
		}
		messages = append(messages, &queue.Message{
			Peeked: queue.Peeked{
				ID: *m.MessageID, Text: value(m.MessageText), DequeueCount: value(m.DequeueCount),
				InsertedAt: value(m.InsertionTime), ExpiresAt: value(m.ExpirationTime),
			},
			Lease: newLease(q, *m.MessageID, *m.PopReceipt, deadline),
		})
	}
	return messages, nil
}

// Send implements queue.Queue. A text that XML can't hold is sent as base64.
func (q *azureQueue) Send(ctx context.Context, text string, opts queue.SendOptions) (string, error) {
	text = storable(text)
	if len(text) > maxText {
		return "", fmt.Errorf("send to queue %q: %d bytes, %d fit: %w", q.name, len(text), maxText, queue.ErrTooLarge)
	}
	delay, err := wholeSeconds(opts.Delay)
	if err != nil {
		return "", fmt.Errorf("send to queue %q: delay %w", q.name, err)
	}
	ttl := int32(-1)
	if opts.TTL > 0 {
		ttl = int32(min((opts.TTL+time.Second-1)/time.Second, 1<<31-1))
	}
	var resp azqueue.EnqueueMessagesResponse
	err = q.try(ctx, opSend, func(ctx context.Context) error {
		resp, err = q.client.EnqueueMessage(withBody(ctx, text), text,
			&azqueue.EnqueueMessageOptions{TimeToLive: &ttl, VisibilityTimeout: &delay})
		return err
	})
	if err != nil {
		return "", q.explain("send to", err)
	}
	if len(resp.Messages) == 0 || resp.Messages[0] == nil {
		return "", taskerr.Errorf(taskerr.TransientStorage, "send to queue %q: the answer names no message", q.name)
	}
	return value(resp.Messages[0].MessageID), nil
}

// Peek implements queue.Queue.
func (q *azureQueue) Peek(ctx context.Context, n int) ([]queue.Peeked, error) {
	if n < 1 || n > queue.MaxBatch {
		return nil, fmt.Errorf("peek into queue %q: %d messages: want 1-%d", q.name, n, queue.MaxBatch)
	}
	count := int32(n)
	var resp azqueue.PeekMessagesResponse
	err := q.try(ctx, opPeek, func(ctx context.Context) (err error) {
		resp, err = q.client.PeekMessages(ctx, &azqueue.PeekMessagesOptions{NumberOfMessages: &count})
		return err
	})
	if err != nil {
		return nil, q.explain("peek into", err)
	}
	peeked := make([]queue.Peeked, 0, len(resp.Messages))
	for _, m := range resp.Messages {
		peeked = append(peeked, queue.Peeked{
			ID: value(m.MessageID), Text: value(m.MessageText), DequeueCount: value(m.DequeueCount),
			InsertedAt: value(m.InsertionTime), ExpiresAt: value(m.ExpirationTime),
		})
	}
	return peeked, nil
}

// Depth implements queue.Queue.
func (q *azureQueue) Depth(ctx context.Context) (int, error) {
	var resp azqueue.GetQueuePropertiesResponse
	err := q.try(ctx, opDepth, func(ctx context.Context) (err error) {
		resp, err = q.client.GetProperties(ctx, nil)
		return err
	})
	if err != nil {
		return 0, q.explain("look at", err)
	}
	return int(value(resp.ApproximateMessagesCount)), nil
}

// wholeSeconds rounds up to whole seconds, 0 to 7 days.
func wholeSeconds(d time.Duration) (int32, error) {
	if d < 0 || d > maxVisibility {
		return 0, fmt.Errorf("%s: want 0 s to 7 days", d)
	}
	return int32((d + time.Second - 1) / time.Second), nil
}

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
