package main

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

// receiver receives the webhooks: it counts by tenant, task and webhook-id.
type receiver struct {
	server *httptest.Server
	verify *standardwebhooks.Webhook

	mu    sync.Mutex
	heard map[key]map[string]received // by webhook-id
	wrong []string                    // requests that must not happen
}

// key names a task of a tenant.
type key struct{ client, task string }

// received is what came under one webhook-id.
type received struct {
	Type  string
	times int
}

func newReceiver() *receiver {
	verify, err := standardwebhooks.NewWebhook(hookSecret)
	if err != nil {
		panic(err) // of a constant
	}
	r := &receiver{verify: verify, heard: map[key]map[string]received{}}
	r.server = httptest.NewServer(r)
	return r
}

func (r *receiver) close() error { r.server.Close(); return nil }

// ServeHTTP accepts every webhook with a valid signature.
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the sender died; another one sends it again
	}
	var message struct {
		Type     string `json:"type"`
		TaskID   string `json:"task_id"`
		ClientID string `json:"client_id"`
	}
	if err = r.verify.Verify(body, req.Header); err == nil {
		err = json.Unmarshal(body, &message)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.wrong = append(r.wrong, "a webhook without a valid signature or JSON: "+err.Error())
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	k, id := key{message.ClientID, message.TaskID}, req.Header.Get(standardwebhooks.HeaderWebhookID)
	if r.heard[k] == nil {
		r.heard[k] = map[string]received{}
	}
	t := r.heard[k][id]
	r.heard[k][id] = received{message.Type, t.times + 1}
	w.WriteHeader(http.StatusNoContent)
}

// of returns what was received about a task, by webhook-id.
func (r *receiver) of(client, task string) map[string]received {
	r.mu.Lock()
	defer r.mu.Unlock()
	heard := map[string]received{}
	maps.Copy(heard, r.heard[key{client, task}])
	return heard
}
