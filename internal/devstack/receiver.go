package devstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// receiver is an HTTP server for webhooks, as a sender of tasks has. It checks signatures with the reference library,
// and listens only on loopback.
type receiver struct {
	URL    string
	server *http.Server
	hook   *standardwebhooks.Webhook
	seen   func(receivedWebhook)
	log    io.Writer

	mu     sync.Mutex
	byID   map[string]bool // webhook-ids, to ignore repeated attempts
	byTask map[string]receivedWebhook
	news   chan struct{} // closed and replaced at every verified webhook
}

// receivedWebhook is one webhook.
type receivedWebhook struct {
	ID       string          `json:"-"` // the webhook-id
	Verified bool            `json:"-"`
	Type     string          `json:"type"`
	TaskID   string          `json:"task_id"`
	Status   string          `json:"status"`
	Result   json.RawMessage `json:"result"`
	Error    *struct {
		Class   string `json:"class"`
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// startReceiver serves until stop. seen is called for each webhook, log gets each body.
func startReceiver(secret string, seen func(receivedWebhook), log io.Writer) (*receiver, error) {
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return nil, fmt.Errorf("read the webhook secret: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for webhooks: %w", err)
	}
	r := &receiver{
		URL: "http://" + listener.Addr().String() + "/hooks", hook: hook, seen: seen, log: log,
		byID: map[string]bool{}, byTask: map[string]receivedWebhook{}, news: make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /hooks", r.receive)
	r.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	go func() { _ = r.server.Serve(listener) }() // it ends by stop, with ErrServerClosed
	return r, nil
}

func (r *receiver) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := r.server.Shutdown(ctx); err != nil {
		return errors.Join(err, r.server.Close())
	}
	return nil
}

func (r *receiver) receive(w http.ResponseWriter, req *http.Request) {
	const maxBody = 1 << 20
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxBody))
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	t := receivedWebhook{ID: req.Header.Get(standardwebhooks.HeaderWebhookID)}
	if err := r.hook.Verify(body, req.Header); err != nil {
		r.seen(t)
		http.Error(w, "the signature is wrong: "+err.Error(), http.StatusUnauthorized)
		return
	}
	if err := json.Unmarshal(body, &t); err != nil {
		r.seen(t)
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	t.Verified = true
	r.note(t, body)
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) note(t receivedWebhook, body []byte) {
	r.mu.Lock()
	again := r.byID[t.ID]
	r.byID[t.ID] = true
	r.byTask[t.TaskID] = t
	fmt.Fprintf(r.log, "%s\n", body)
	close(r.news)
	r.news = make(chan struct{})
	r.mu.Unlock()
	if !again {
		r.seen(t)
	}
}

// verified is the number of different webhooks with a good signature.
func (r *receiver) verified() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.byID)
}

// await waits for the verified webhook of a task.
func (r *receiver) await(ctx context.Context, taskID string) (receivedWebhook, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		r.mu.Lock()
		t, ok := r.byTask[taskID]
		news := r.news
		r.mu.Unlock()
		if ok {
			return t, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return receivedWebhook{}, fmt.Errorf("no verified webhook came for task %s: %w", taskID, context.Cause(ctx))
		}
	}
}
