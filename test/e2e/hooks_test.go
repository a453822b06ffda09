package e2e

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-7227ef26/async-worker/test/contract/published"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// newHooks receives webhooks, and fails the test at one that is signed wrong or that the published schema doesn't allow.
func newHooks(t *testing.T) *receiver.Receiver {
	t.Helper()
	schema := published.Webhook(t)
	r, err := receiver.Open(receiver.Options{Check: func(body []byte) error {
		if problem := published.Problem(schema, string(body)); problem != "" {
			return errors.New("docs/schemas/webhook.schema.json doesn't describe it: " + problem)
		}
		return nil
	}, Reject: func(_ string, problem error) { t.Error(problem) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// await waits for the first webhook of a task.
func (b *bed) await(ctx context.Context, task string) receiver.Delivery {
	b.t.Helper()
	d, err := b.hooks.Await(ctx, task)
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}
