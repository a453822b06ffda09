// Package azure is the queue back end on Azure Storage Queues (and Azurite).
//
// In addition to the SDK it does this: a dequeue, a renewal and a send are sent only once, so that a lost response
// hides no second batch and is reported as queue.ErrUncertain; a renewal keeps the message's text; a lease object owns
// the current pop receipt; a message that is not legal XML blocks no other; every error names the remedy and holds no
// secret.
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
	// Timeout is the timeout of each single request. Default 15 s.
	Timeout time.Duration
	// OnRequest is called for every request sent, retries included, with the operation (receive, send, peek, extend,
	// release, delete, ensure, depth) and its outcome (ok; refused: Azure returned an error; throttled; uncertain: no
	// response, or one that leaves open whether it was done). It runs on the caller's goroutine and must not block. May
	// be nil.
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

// Open returns the service of one storage account. It doesn't touch the network.
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
		Retry:           policy.RetryOptions{MaxRetries: -1}, // see try, which knows what may be retried
		Transport:       storage.Client(tracing.Transport(wire{o.Transport}, "queue")),
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
