// Package receiver is the frontend's end of the webhooks, for tests and the local stack. It checks signatures with the
// reference library, and listens only on loopback.
package receiver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Secret signs the webhooks that a Receiver accepts.
const Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

// Delivery is a webhook whose signature was verified.
type Delivery struct {
	ID          string         `json:"-"`
	TraceParent string         `json:"-"`
	Body        []byte         `json:"-"`
	Type        string         `json:"type"`
	TaskID      string         `json:"task_id"`
	TaskType    string         `json:"task_type"`
	ClientID    string         `json:"client_id"`
	Status      string         `json:"status"`
	Attempt     int            `json:"attempt"`
	Result      map[string]any `json:"result"`
	Error       struct {
		Class     string `json:"class"`
		Code      string `json:"code"`
		Message   string `json:"message"`
		Retryable bool   `json:"retryable"`
		Attempts  int    `json:"attempts"`
	} `json:"error"`
}

// Options configure Open. The zero value takes every webhook that Secret signed.
type Options struct {
	Secret string                   // of the sender; default Secret
	Check  func(body []byte) error  // looks at each body after its signature; nil: no further check
	Reject func(id string, e error) // gets each problem, in the goroutine of its request; nil: nobody does
	// Accept gets each delivery after it was recorded, in the goroutine of its request; first: its webhook-id is new.
	// Nil: nobody does.
	Accept func(d Delivery, first bool)
}

// Receiver records deliveries. It answers 401 to one whose signature or body is wrong.
type Receiver struct {
	URL string // on loopback; any path is served

	server *http.Server
	verify *standardwebhooks.Webhook
	o      Options

	mu      sync.Mutex
	got     map[string][]Delivery // by task, in order, with repeated ones
	ids     map[string]bool       // of webhooks
	changed chan struct{}         // closed and replaced with each delivery
}

// Open starts a receiver.
func Open(o Options) (*Receiver, error) {
	verify, err := standardwebhooks.NewWebhook(cmp.Or(o.Secret, Secret))
	if err != nil {
		return nil, fmt.Errorf("read the webhook secret: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for webhooks: %w", err)
	}
	r := &Receiver{
		URL: "http://" + listener.Addr().String(), verify: verify, o: o, got: map[string][]Delivery{},
		ids: map[string]bool{}, changed: make(chan struct{}),
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	go func() { _ = r.server.Serve(listener) }() // it ends by Close, with ErrServerClosed
	return r, nil
}

// Close waits for the requests in flight, for 2 seconds at most.
func (r *Receiver) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		return errors.Join(err, r.server.Close())
	}
	return nil
}

// maxBody is the largest body that is read, in bytes.
const maxBody = 1 << 20

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		http.Error(w, "the body can't be read; send it again", http.StatusBadRequest) // the sender died: it will deliver again
		return
	}
	d, err := r.read(body, req.Header)
	if err != nil {
		if r.o.Reject != nil {
			r.o.Reject(req.Header.Get(standardwebhooks.HeaderWebhookID), err)
		}
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	first := r.record(d)
	if r.o.Accept != nil {
		r.o.Accept(d, first)
	}
	w.WriteHeader(http.StatusNoContent)
}

// record reports whether the delivery's webhook-id is new.
func (r *Receiver) record(d Delivery) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first = !r.ids[d.ID]
	r.ids[d.ID] = true
	r.got[d.TaskID] = append(r.got[d.TaskID], d)
	close(r.changed)
	r.changed = make(chan struct{})
	return first
}

// Count returns the number of distinct webhook-ids.
func (r *Receiver) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.ids)
}

func (r *Receiver) read(body []byte, header http.Header) (Delivery, error) {
	if err := r.verify.Verify(body, header); err != nil {
		return Delivery{}, fmt.Errorf("verify a webhook's signature: %w", err)
	}
	d := Delivery{
		ID: header.Get(standardwebhooks.HeaderWebhookID), TraceParent: header.Get("traceparent"), Body: body,
	}
	if err := json.Unmarshal(body, &d); err != nil {
		return Delivery{}, fmt.Errorf("decode a webhook's body: %w", err)
	}
	if r.o.Check == nil {
		return d, nil
	}
	if err := r.o.Check(body); err != nil {
		return Delivery{}, fmt.Errorf("check a webhook's body: %w\n%s", err, body)
	}
	return d, nil
}

// Await waits for the first delivery of a task.
func (r *Receiver) Await(ctx context.Context, task string) (Delivery, error) {
	for {
		r.mu.Lock()
		got, changed := r.got[task], r.changed
		r.mu.Unlock()
		if len(got) > 0 {
			return got[0], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Delivery{}, fmt.Errorf("no webhook came for task %s: %w", task, context.Cause(ctx))
		}
	}
}

// Deliveries returns the deliveries of a tenant's task in order, with repeated ones; an empty client: of any tenant.
func (r *Receiver) Deliveries(client, task string) (all []Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.got[task] {
		if client == "" || d.ClientID == client {
			all = append(all, d)
		}
	}
	return all
}

// IDs returns the distinct webhook-ids of a task, in order of arrival.
func (r *Receiver) IDs(task string) (ids []string) {
	for _, d := range r.Deliveries("", task) {
		if !slices.Contains(ids, d.ID) {
			ids = append(ids, d.ID)
		}
	}
	return ids
}
