package boot

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/webhook/receiver"
)

// host has the services of the tenants: they are on the host, whose network the machine uses.
type host struct {
	t        *testing.T // the step's
	azure    string     // connection string
	database string     // the superuser's URL
	supabase stacktest.Supabase
	gate     *gate // in front of supabase
	model    *llmtest.Server
	hooks    *receiver.Receiver
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{
		t: t, azure: stacktest.Azurite(t), database: stacktest.Postgres(t), hooks: newHooks(t),
		model: llmtest.New(t, llmtest.Options{}),
	}
	h.supabase = stacktest.PostgREST(t, h.database)
	h.gate = newGate(t, h.supabase.URL)
	return h
}

// send uploads a document to the tenant's container, unless it is nil, and puts a task on its queue.
func (h *host) send(client, id, kind, filename string, content []byte) {
	h.t.Helper()
	message, err := json.Marshal(map[string]any{
		"task_id": id, "task_type": kind, "webhook_url": h.hooks.URL,
		"payload": map[string]string{"filename": filename, "document_set": "boot"},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	if content != nil {
		blobs, err := azblob.NewClientFromConnectionString(h.azure, nil)
		if err == nil {
			_, err = blobs.UploadBuffer(ctx, client+"-documents", filename, content, nil)
		}
		if err != nil {
			h.t.Fatalf("upload %s: %v", filename, err)
		}
	}
	queue, err := azqueue.NewQueueClientFromConnectionString(h.azure, client+"-tasks", nil)
	if err == nil {
		_, err = queue.EnqueueMessage(ctx, string(message), nil)
	}
	if err != nil {
		h.t.Fatalf("send %s to %s: %v", id, client, err)
	}
}

// hold makes the model's next answer take d. The channel is closed when the model is called.
func (h *host) hold(d time.Duration) (asked <-chan struct{}) {
	begun, ended := make(chan struct{}), h.t.Context().Done()
	h.model.Script(llmtest.Fault{Before: func() {
		close(begun)
		select {
		case <-time.After(d):
		case <-ended:
		}
	}})
	return begun
}

// patience ends what hangs. It is longer than a busy machine may hold up what the machine, the worker or a service does.
const patience = 5 * time.Minute

// await waits for an action of the machine or the worker.
func (h *host) await(done <-chan struct{}, what string) {
	h.t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		h.t.Fatalf("%s: not within %v", what, patience)
	}
}

// once fails the test unless the task was done once: one success, one webhook, one version of its document.
func (h *host) once(client, id string, attempts int) {
	h.t.Helper()
	got := h.webhook(h.t, id)
	if got.Type != "task.completed" || got.ClientID != client {
		h.t.Errorf("%s: %+v", id, got)
	}
	if ids := h.hooks.IDs(id); len(ids) != 1 {
		h.t.Errorf("%s: %d webhooks, want one", id, len(ids))
	}
	row := query[string](h, `select concat_ws(' ', status, attempts,
			(select count(*) from job_events e where e.client_id = j.client_id and e.job_id = j.id
			  and e.progress = 100),
			(select count(*) from webhook_deliveries d where d.client_id = j.client_id and d.job_id = j.id))
		from jobs j where client_id = $1 and id = $2`, client, id)
	if want := fmt.Sprintf("succeeded %d 1 1", attempts); row != want {
		h.t.Errorf("%s: status, attempts, ends and webhooks are %q, want %q", id, row, want)
	}
}

// query returns one value; it sees the rows of every tenant.
func query[T any](h *host, sql string, args ...any) T {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, h.database)
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close(ctx)
	var v T
	if err := conn.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		h.t.Fatalf("%s: %v", strings.Join(strings.Fields(sql), " "), err)
	}
	return v
}

// gate is a proxy that can be closed: requests wait until it is opened.
type gate struct {
	URL string

	mu     sync.Mutex
	opened chan struct{} // closed while it is open
	knocks chan struct{} // one for each waiting request
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{opened: make(chan struct{}), knocks: make(chan struct{}, 1)}
	close(g.opened)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		opened := g.opened
		g.mu.Unlock()
		select {
		case <-opened:
		default:
			select {
			case g.knocks <- struct{}{}:
			default:
			}
			select {
			case <-opened:
			case <-r.Context().Done():
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	g.URL = server.URL
	return g
}

// close shuts the gate until open is called; a request that waits makes knocked receive.
func (g *gate) close() (knocked <-chan struct{}, open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	opened := make(chan struct{})
	g.opened = opened
	return g.knocks, sync.OnceFunc(func() { close(opened) })
}
