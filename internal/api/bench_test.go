package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/convert"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

const tenant = "southhaven"

// bench is the API of a tenant over a real database.
type bench struct {
	*testing.T
	url    string
	store  store.Store
	feed   *feed.Feed
	deps   api.Deps
	api    *api.API
	server *httptest.Server
	base   string            // of the addresses of calls
	tokens map[string]string // by scope
	log    *logbook
	queues task.Queues
	queue  *counting // of normal priority
	dead   queue.Queue
}

// logbook keeps what was logged.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// counting is a queue that counts looks at its depth, may claim another one, and may refuse to send.
type counting struct {
	queue.Queue
	mu    sync.Mutex
	looks int
	depth int
	fail  error
	most  int // bytes of a message; zero: as many as the queue below takes
	sent  []string
}

func (q *counting) Depth(ctx context.Context) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.looks++
	n, err := q.Queue.Depth(ctx)
	return n + q.depth, err
}

func (q *counting) Send(ctx context.Context, text string, o queue.SendOptions) (string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fail != nil {
		return "", q.fail
	}
	if q.most > 0 && len(text) > q.most {
		return "", queue.ErrTooLarge
	}
	q.sent = append(q.sent, text)
	return q.Queue.Send(ctx, text, o)
}

func (q *counting) setDepth(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.depth = n
}

func (q *counting) messages() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]string(nil), q.sent...)
}

func newBench(t *testing.T, edit ...func(*api.Deps)) *bench {
	t.Helper()
	b := &bench{T: t, url: stacktest.PostgresWith(t, schema.Options{Dimensions: 8}), tokens: map[string]string{}}
	s, err := postgres.Open(t.Context(), b.url, postgres.Options{ClientID: tenant, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	b.log = &logbook{}
	log := slog.New(slog.NewTextHandler(b.log, nil))
	b.feed = feed.New(feed.Config{Store: s, Log: log, Keep: time.Hour})
	b.store = feed.Announce(s, b.feed, feed.Audience{})
	bucket := dir.New(t.TempDir())
	service := memory.New(memory.Options{})
	b.queues = task.QueueNames(tenant)
	open := map[string]queue.Queue{}
	for _, name := range append(b.queues.Work(), b.queues.DeadLetter) {
		open[name] = service.Queue(name)
		if err := open[name].Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.dead = open[b.queues.DeadLetter]
	b.queue = &counting{Queue: open[b.queues.Normal]}
	open[b.queues.Normal] = b.queue
	queueOf := func(p task.Priority) queue.Queue { return open[b.queues.For(p)] }
	attempts := func(task.Type) int { return 3 }
	b.deps = api.Deps{
		ClientID: tenant, Store: b.store, Feed: b.feed, Bucket: bucket, Queue: queueOf, Check: check(types(t)),
		CheckNames:  checkNames(types(t)),
		DeadLetters: b.dead, MaxAttempts: attempts, QueueWait: time.Minute, Log: log,
		Patience: 10 * time.Minute, // a loaded machine is not what these tests are about
		Search: func(ctx context.Context, s search.Store, q search.Query) (search.Found, error) {
			embedder, err := offline.New(8)
			if err != nil {
				return search.Found{}, err
			}
			return search.Finder{Embedder: embedder}.Find(ctx, s, q)
		},
		Replayer: replay.Replayer{
			Store: b.store, Queue: queueOf, Bucket: bucket, ClientID: tenant, MaxAttempts: attempts,
		},
	}
	for _, scope := range []apitoken.Scope{apitoken.Read, apitoken.Submit, apitoken.Operate} {
		text, token, err := apitoken.New(scope.String()+"er", scope)
		if err != nil {
			t.Fatal(err)
		}
		b.tokens[scope.String()] = text
		b.deps.Auth.Tokens = append(b.deps.Auth.Tokens, token)
	}
	for _, e := range edit {
		e(&b.deps)
	}
	if b.api, err = api.New(b.deps); err != nil {
		t.Fatal(err)
	}
	b.server = httptest.NewServer(b.api)
	b.base = b.server.URL
	t.Cleanup(func() {
		b.server.CloseClientConnections()
		b.server.Close()
		b.api.Close()
		b.feed.Close()
		b.store.Close()
	})
	return b
}

// types are those of the worker.
func types(t *testing.T) handlers.Registry {
	registry, err := handlers.NewRegistry(ingest.New(ingest.Deps{}), ocr.New(ocr.Deps{}), convert.New(convert.Deps{}))
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

func check(all handlers.Registry) func(task.Task) error {
	return func(what task.Task) error {
		h, ok := all[what.Type]
		if !ok {
			return taskerr.Errorf(taskerr.ValidationError, "type is not one that this worker takes")
		}
		return h.Check(what)
	}
}

func checkNames(all handlers.Registry) func(task.Task) error {
	return func(what task.Task) error {
		if h, ok := all[what.Type]; ok {
			return h.Spec().CheckNames(what.Payload)
		}
		return nil
	}
}

// reply is a response, read to its end.
type reply struct {
	status int
	header http.Header
	text   string
}

func (r reply) field(name string) string {
	var fields map[string]any
	if json.Unmarshal([]byte(r.text), &fields) != nil {
		return ""
	}
	text, _ := fields[name].(string)
	return text
}

// ask sends a request with the operator's token, unless a header has another one.
func (b *bench) ask(method, path, body string, header ...string) reply {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.tokens["operate"])
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	resp, err := b.server.Client().Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	if resp.StatusCode >= 400 && resp.Header.Get("Content-Type") != "application/problem+json" {
		b.Errorf("%s %s: %d with %s: %s", method, path, resp.StatusCode, resp.Header.Get("Content-Type"), text)
	}
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// want checks the status, and a problem's code.
func (b *bench) want(r reply, status int, code string) reply {
	b.Helper()
	if r.status != status || r.field("code") != code {
		b.Errorf("got %d %s, want %d %s", r.status, r.text, status, code)
	}
	return r
}

// newFile is the body of an ingest of a new file.
func newFile() string {
	return `{"type":"ingest","payload":{"filename":"` + uuid.NewString() + `.pdf","document_set":"s","metadata":{"a":1}}}`
}

// submitted is a job that was submitted.
func (b *bench) submitted(body string) string {
	b.Helper()
	return b.want(b.ask("POST", "/v1/jobs", body), http.StatusCreated, "").field("id")
}

// begun is a submitted job that runs.
func (b *bench) begun(id string) store.Holder {
	b.Helper()
	j, err := b.store.Job(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	answer, err := b.store.Begin(b.Context(), store.Begin{
		Task: store.Task{
			JobID: id, Type: j.Type, Payload: j.Payload, Hints: j.Hints, Priority: j.Priority, MaxAttempts: 3,
			Fingerprint: task.Fingerprint(task.Task{Type: task.Type(j.Type), Payload: j.Payload}),
		},
		Worker: "w", Lease: time.Hour, ID: uuid.NewString(),
	})
	if err != nil || answer.Decision != store.Run {
		b.Fatalf("begin: %+v, %v", answer, err)
	}
	return store.Holder{JobID: id, Fence: answer.Fence}
}

func (b *bench) report(h store.Holder, events ...store.Event) {
	b.Helper()
	for i := range events {
		events[i].ID, events[i].At = uuid.NewString(), time.Now()
	}
	if _, err := b.store.Heartbeat(b.Context(), store.Heartbeat{Holder: h, Lease: time.Hour, Events: events}); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) complete(h store.Holder) {
	b.Helper()
	if _, err := b.store.Complete(b.Context(), store.Completion{
		Holder: h, Result: json.RawMessage(`{"document_id":"d1","pages":3}`),
	}); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) failJob(h store.Holder) {
	b.Helper()
	j, err := b.store.Job(b.Context(), h.JobID)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := b.store.Fail(b.Context(), store.Failure{
		Holder: h, Reason: "permanent",
		Original: `{"task_id":"` + h.JobID + `","task_type":"` + j.Type + `","payload":` + string(j.Payload) + `}`,
		Error: store.ErrorInfo{
			Type: "CorruptionDetected", Class: "corruption_detected", Code: "INGEST_CORRUPTION_DETECTED", Message: "broken",
		},
	}); err != nil {
		b.Fatal(err)
	}
}
