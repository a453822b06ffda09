package azure

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	"github.com/seed-7227ef26/async-worker/queue"
)

// lease holds a message's current pop receipt: every update returns a new one and invalidates the old one. A receipt is
// not a fencing token: it works after its end as long as nobody else has received the message.
type lease struct {
	queue    *azureQueue
	id       string
	deadline atomic.Pointer[time.Time] // readable during a request

	busy chan struct{} // holds the one token of a semaphore; who took it owns the fields below
	// receipt is the current pop receipt.
	receipt string
	// unknown: an update got no response. If it was carried out, receipt is invalid and the new one is lost, although
	// the message is still hidden from everybody else.
	unknown bool
	ended   end
}

// end is how this side ended a lease.
type end string

const (
	held     end = ""
	released end = "released"
	deleted  end = "deleted"
)

func newLease(q *azureQueue, id, receipt string, deadline time.Time) *lease {
	l := &lease{queue: q, id: id, receipt: receipt, busy: make(chan struct{}, 1)}
	l.deadline.Store(&deadline)
	l.busy <- struct{}{}
	return l
}

// Deadline implements queue.Lease.
func (l *lease) Deadline() time.Time { return *l.deadline.Load() }

// Extend implements queue.Lease.
func (l *lease) Extend(ctx context.Context, visibility time.Duration) error {
	seconds, err := wholeSeconds(visibility)
	if err != nil || seconds < 1 {
		return fmt.Errorf("extend the lease of message %s: visibility %s: want 1 s to 7 days", l.id, visibility)
	}
	return l.locked(ctx, opExtend, func() error { return l.update(ctx, opExtend, seconds) })
}

// Release implements queue.Lease. A delay is cut to 7 days.
func (l *lease) Release(ctx context.Context, delay time.Duration) error {
	seconds, _ := wholeSeconds(min(max(delay, 0), maxVisibility))
	return l.locked(ctx, opRelease, func() error {
		err := l.update(ctx, opRelease, seconds)
		if err == nil {
			l.ended = released
		}
		return err
	})
}

// Delete implements queue.Lease. The service answers an invalid receipt like a missing message; then Delete returns nil
// although somebody else may have the message. That is harmless: the work is committed, and a redelivery is recognized.
func (l *lease) Delete(ctx context.Context) error {
	return l.locked(ctx, opDelete, func() error {
		err := l.queue.try(ctx, opDelete, func(ctx context.Context) error {
			_, err := l.queue.client.DeleteMessage(ctx, l.id, l.receipt, nil)
			return err
		})
		if codeOf(err) == "MessageNotFound" {
			err = nil
		}
		if err == nil {
			l.ended = deleted
		}
		return err
	})
}

// update sets the message's visibility without a body, which keeps its text: the SDK would send an empty text and erase
// it.
func (l *lease) update(ctx context.Context, op operation, seconds int32) error {
	var start time.Time
	var resp azqueue.UpdateMessageResponse
	err := l.queue.try(ctx, op, func(ctx context.Context) (err error) {
		start = time.Now()
		resp, err = l.queue.client.UpdateMessage(withoutBody(ctx), l.id, l.receipt, "",
			&azqueue.UpdateMessageOptions{VisibilityTimeout: &seconds})
		return err
	})
	if fateOf(err) == uncertain {
		l.unknown = true
		return err
	}
	if err != nil {
		return err
	}
	l.unknown = false
	if resp.PopReceipt != nil {
		l.receipt = *resp.PopReceipt
	}
	deadline := start.Add(time.Duration(seconds) * time.Second)
	l.deadline.Store(&deadline)
	return nil
}

// locked runs request while no other runs, and explains its error.
func (l *lease) locked(ctx context.Context, op operation, request func() error) error {
	doing := fmt.Sprintf(map[operation]string{
		opExtend: "extend the lease of message %s in", opRelease: "release message %s in",
		opDelete: "delete message %s from",
	}[op], l.id)
	select {
	case <-ctx.Done():
		return fmt.Errorf("%s queue %q: %w", doing, l.queue.name, context.Cause(ctx))
	case <-l.busy:
	}
	defer func() { l.busy <- struct{}{} }()
	if l.ended != held {
		if l.ended == deleted && op == opDelete {
			return nil
		}
		return fmt.Errorf("%s queue %q: it was %s: %w", doing, l.queue.name, l.ended, queue.ErrLeaseLost)
	}
	wasUnknown := l.unknown
	err := request()
	if err == nil {
		return nil
	}
	switch code := codeOf(err); {
	case code == "PopReceiptMismatch" || code == "MessageNotFound":
		// Before the old deadline nobody else can have received it: the cause was our own unanswered update.
		if wasUnknown && time.Now().Before(l.Deadline()) {
			return fmt.Errorf("%s queue %q: an earlier renewal without an answer took the receipt: %w", doing,
				l.queue.name, queue.ErrUncertain)
		}
		return fmt.Errorf("%s queue %q (%s): %w", doing, l.queue.name, code, queue.ErrLeaseLost)
	case fateOf(err) == uncertain:
		return fmt.Errorf("%w: %w", l.queue.explain(doing, err), queue.ErrUncertain)
	}
	return l.queue.explain(doing, err)
}

func codeOf(err error) string {
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return answer.ErrorCode
	}
	return ""
}
