// Package azure is the queue back end on Azure Storage Queues (and Azurite).
//
// What it does that the SDK doesn't: a dequeue, a renewal and a send go over the wire once, so that a
// lost answer hides no second batch and is reported as what it is (queue.ErrUncertain); a renewal
// keeps the message's text; the current pop receipt belongs to one lease object; a message that is
// no legal XML blocks no other; every error says what to mend and carries no secret.
package azure

import (
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"

	storage "github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
	"github.com/seed-7227ef26/async-worker/queue"
)

// Options qualify Open. The zero value is ready for use.
type Options struct {
	// Concurrency is about how many requests run at a time; it sizes the connection pool. Default 8.
	Concurrency int
	// Timeout bounds each single request. Default 15 s.
	Timeout time.Duration
	// OnRequest is told of every request that went out, tries again included: what it was (receive,
	// send, peek, extend, release, delete, ensure, depth) and how it ended (ok, refused: an error that
	// Azure answered; throttled; uncertain: no answer, or one that leaves open whether it was done).
	// It runs on the caller's goroutine and must not block. May be nil.
	OnRequest func(op, outcome string)
	// Transport replaces the HTTP transport, e.g. to inject faults. Default: one sized to Concurrency.
	Transport http.RoundTripper
}

type service struct {
	creds     *storage.Credentials
	client    *azqueue.ServiceClient
	transport http.RoundTripper
	timeout   time.Duration
	onRequest func(op, outcome string)
}

// Open makes the service of one storage account. It doesn't touch the network.
func Open(creds *storage.Credentials, o Options) (queue.Service, error) {
	if o.Concurrency <= 0 {
		o.Concurrency = 8
	}
	if o.Timeout <= 0 {
		o.Timeout = 15 * time.Second
	}
	if o.OnRequest == nil {
		o.OnRequest = func(string, string) {}
	}
	if o.Transport == nil {
		o.Transport = storage.Transport(o.Concurrency)
	}
	client, err := creds.QueueService(azcore.ClientOptions{
		Retry:           policy.RetryOptions{MaxRetries: -1}, // see try: only what surely wasn't done is tried again
		Transport:       &http.Client{Transport: tracing.Transport(wire{o.Transport}, "queue")},
		PerCallPolicies: []policy.Policy{bodyPolicy{}},
	})
	if err != nil {
		return nil, err
	}
	return &service{
		creds: creds, client: client, transport: o.Transport, timeout: o.Timeout, onRequest: o.OnRequest,
	}, nil
}

// Queue implements queue.Service.
func (s *service) Queue(name string) queue.Queue {
	return &azureQueue{service: s, name: name, client: s.client.NewQueueClient(name)}
}

// Close implements queue.Service.
func (s *service) Close() error {
	(&http.Client{Transport: s.transport}).CloseIdleConnections()
	return nil
}
