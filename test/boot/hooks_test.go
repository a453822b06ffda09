package boot

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

// hooks receives webhooks and fails the test at one whose signature is wrong.
type hooks struct {
	t      *testing.T
	URL    string
	verify *standardwebhooks.Webhook

	mu    sync.Mutex
	calls map[string][]webhookCall // by task, every delivery
	news  chan struct{}            // closed and replaced with each
}

// webhookCall is a verified webhook.
type webhookCall struct {
	ID       string         `json:"-"`
	Type     string         `json:"type"`
	TaskID   string         `json:"task_id"`
	ClientID string         `json:"client_id"`
	Result   map[string]any `json:"result"`
	Error    map[string]any `json:"error"`
}

func newHooks(t *testing.T) *hooks {
	t.Helper()
	verify, err := standardwebhooks.NewWebhook(hookSecret)
	if err != nil {
		t.Fatal(err)
	}
	h := &hooks{t: t, verify: verify, calls: map[string][]webhookCall{}, news: make(chan struct{})}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.URL = server.URL
	return h
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender has gone; it will send it again
	}
	if err := h.verify.Verify(body, r.Header); err != nil {
		h.t.Errorf("a webhook's signature: %v", err)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	one := webhookCall{ID: r.Header.Get(standardwebhooks.HeaderWebhookID)}
	if err := json.Unmarshal(body, &one); err != nil {
		h.t.Errorf("a webhook's body: %v", err)
	}
	h.mu.Lock()
	h.calls[one.TaskID] = append(h.calls[one.TaskID], one)
	close(h.news)
	h.news = make(chan struct{})
	h.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// await waits for the first webhook of a task.
func (h *hooks) await(t *testing.T, task string) webhookCall {
	t.Helper()
	patience := time.After(2 * time.Minute)
	for {
		h.mu.Lock()
		got, news := h.calls[task], h.news
		h.mu.Unlock()
		if len(got) > 0 {
			return got[0]
		}
		select {
		case <-news:
		case <-patience:
			t.Fatalf("no webhook came for the task %s", task)
		}
	}
}

// ids are the different webhook-ids of a task.
func (h *hooks) ids(task string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []string
	for _, one := range h.calls[task] {
		if !slices.Contains(ids, one.ID) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}
