// Package webhooktest receives webhooks in tests, like a frontend.
package webhooktest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Secret signs the webhooks that a Receiver accepts.
const Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

// Delivery is a webhook whose signature was verified.
type Delivery struct {
	ID          string         `json:"-"`
	TraceParent string         `json:"-"`
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

// Receiver records deliveries. It answers 401 to one whose signature or body is wrong.
type Receiver struct {
	URL string

	server *httptest.Server
	verify *standardwebhooks.Webhook
	check  func(body []byte) error
	reject func(problem error)

	mu      sync.Mutex
	got     map[string][]Delivery // by task, in order, with repeated ones
	changed chan struct{}         // closed and replaced with each delivery
}

// Open starts a receiver. check looks at each body after its signature; nil: no further check. reject gets each
// problem, in the goroutine of its request.
func Open(check func(body []byte) error, reject func(problem error)) *Receiver {
	verify, err := standardwebhooks.NewWebhook(Secret)
	if err != nil {
		panic(err) // Secret is constant
	}
	if check == nil {
		check = func([]byte) error { return nil }
	}
	r := &Receiver{verify: verify, check: check, reject: reject, got: map[string][]Delivery{}, changed: make(chan struct{})}
	r.server = httptest.NewServer(r)
	r.URL = r.server.URL
	return r
}

// Close waits for the requests in flight.
func (r *Receiver) Close() error {
	r.server.Close()
	return nil
}

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the sender died; it will deliver again
	}
	d, err := r.read(body, req.Header)
	if err != nil {
		r.reject(err)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.mu.Lock()
	r.got[d.TaskID] = append(r.got[d.TaskID], d)
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (r *Receiver) read(body []byte, header http.Header) (Delivery, error) {
	if err := r.verify.Verify(body, header); err != nil {
		return Delivery{}, fmt.Errorf("verify a webhook's signature: %w", err)
	}
	d := Delivery{ID: header.Get(standardwebhooks.HeaderWebhookID), TraceParent: header.Get("traceparent")}
	if err := json.Unmarshal(body, &d); err != nil {
		return Delivery{}, fmt.Errorf("decode a webhook's body: %w", err)
	}
	if err := r.check(body); err != nil {
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
