package dashboard_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/dashboard"
	"github.com/seed-7227ef26/async-worker/internal/feed"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/picture"
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

// bench is a dashboard over a real store, with somebody signed in for each scope.
type bench struct {
	bucket blob.Bucket
	*testing.T
	url    string // of the database
	store  store.Store
	feed   *feed.Feed
	api    *api.API
	tokens map[string]string // by scope
	health dashboard.Health
	server *httptest.Server
	base   string // of all addresses
	pages  http.Handler
	log    *logbook
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

func newBench(t *testing.T, edit ...func(*api.Deps)) *bench {
	t.Helper()
	b := &bench{
		T: t, url: stacktest.PostgresWith(t, schema.Options{Dimensions: 8}), tokens: map[string]string{}, log: &logbook{},
	}
	s, err := postgres.Open(t.Context(), b.url, postgres.Options{ClientID: tenant, MaxConns: 12})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(b.log, nil))
	b.feed = feed.New(feed.Config{Store: s, Log: log, Keep: time.Hour})
	b.store = feed.Announce(s, b.feed, feed.Audience{})
	deps := b.deps(log)
	for _, e := range edit {
		e(&deps)
	}
	if b.api, err = api.New(deps); err != nil {
		t.Fatal(err)
	}
	b.health = dashboard.Health{
		Worker: "app1/4711-x7k2ma", Started: time.Now().Add(-26 * time.Hour), Ready: true, Slots: 4,
		Line: "2 of 4 slots busy; 1,204 done, 7 failed since the start",
		Dependencies: []dashboard.Dependency{
			{Name: "model service", State: "closed", Since: time.Now().Add(-20 * time.Hour)},
			{
				Name: "docling", State: "open", Since: time.Now().Add(-4 * time.Minute),
				Hint: "Check DOCLING_URL and docling-serve's log.",
			},
		},
	}
	d := dashboard.New(dashboard.Deps{
		ClientID: tenant, Version: "1.2.3", API: b.api, Log: log, Health: func() dashboard.Health { return b.health },
		Settings: func() []dashboard.Setting { return sampleSettings },
		Examine:  func(context.Context) []dashboard.Check { return sampleChecks },
		Patience: 10 * time.Minute, // a loaded machine is not what these tests are about
	})
	b.pages, b.server = d, httptest.NewServer(d)
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

var sampleSettings = []dashboard.Setting{
	{Subject: "Tenant", Name: "CLIENT_ID", Value: tenant, Origin: "environment", Help: "name of the tenant"},
	{Subject: "Database", Name: "DATABASE_URL", Value: "[redacted]", Origin: "credential", Help: "direct connection to Postgres"},
	{Subject: "Work", Name: "WORKER_CONCURRENCY", Value: "4", Origin: "default", Help: "how many tasks run at once"},
	{Subject: "Work", Name: "TASK_TIMEOUT_SEC", Value: "900", Origin: "environment", Help: "for a whole task"},
}

var sampleChecks = []dashboard.Check{
	{Name: "settings", State: "ok", Seen: "all 84 are valid"},
	{Name: "docling", State: "fail", Seen: "http://127.0.0.1:5001 does not answer", Remedy: "Start docling-serve, or unset DOCLING_URL."},
	{Name: "clock", State: "warn", Seen: "2.1 s behind the database", Remedy: "Set up systemd-timesyncd."},
	{Name: "webhooks", State: "skipped", Seen: "no job has one"},
}

func (b *bench) deps(log *slog.Logger) api.Deps {
	bucket := dir.New(b.TempDir())
	b.bucket = bucket
	service := memory.New(memory.Options{})
	names := task.QueueNames(tenant)
	open := map[string]queue.Queue{}
	for _, name := range names.Work() {
		open[name] = service.Queue(name)
		if err := open[name].Ensure(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	queueOf := func(p task.Priority) queue.Queue { return open[names.For(p)] }
	attempts := func(task.Type) int { return 3 }
	deps := api.Deps{
		ClientID: tenant, Store: b.store, Feed: b.feed, Bucket: bucket, Queue: queueOf, Check: check(b.T),
		DeadLetters: service.Queue(names.DeadLetter), MaxAttempts: attempts, QueueWait: time.Minute, Log: log, Picture: picture.New(bucket, b.TempDir(), nil).Page,
		Patience: 10 * time.Minute,
		Search:   search.Finder{Embedder: secondPassage{}}.Find,
		Replayer: replay.Replayer{
			Store: b.store, Queue: queueOf, Bucket: bucket, ClientID: tenant, MaxAttempts: attempts,
		},
	}
	for scope, name := range map[apitoken.Scope]string{
		apitoken.Read: "auditor", apitoken.Submit: "frontend", apitoken.Operate: "anna",
	} {
		text, token, err := apitoken.New(name, scope)
		if err != nil {
			b.Fatal(err)
		}
		b.tokens[scope.String()] = text
		deps.Auth.Tokens = append(deps.Auth.Tokens, token)
	}
	return deps
}

// check is that of a worker with two types.
func check(t *testing.T) func(task.Task) error {
	registry, err := handlers.NewRegistry(ingest.New(ingest.Deps{}), agent.New(agent.Deps{}))
	if err != nil {
		t.Fatal(err)
	}
	return func(what task.Task) error {
		h, ok := registry[what.Type]
		if !ok {
			return taskerr.Errorf(taskerr.ValidationError, "type is not one that this worker takes")
		}
		return h.Check(what)
	}
}

// origin is that of all addresses.
func (b *bench) origin() string {
	u, err := url.Parse(b.base)
	if err != nil {
		b.Fatal(err)
	}
	return u.Scheme + "://" + u.Host
}

// visitor is a browser without scripts.
type visitor struct {
	*bench
	client *http.Client
}

// visit signs somebody in; an empty scope: nobody.
func (b *bench) visit(scope string) *visitor {
	b.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	v := &visitor{b, &http.Client{Jar: jar}}
	if scope != "" {
		v.want(v.post("login", "token", b.tokens[scope]), http.StatusOK, "Overview")
	}
	return v
}

// answer is a response, read to its end.
type answer struct {
	status int
	header http.Header
	path   string // where redirections ended
	url    string // the same, with its query
	text   string
	packed int // bytes over the wire
}

func (v *visitor) get(path string) answer { v.Helper(); return v.do(http.MethodGet, path, nil) }

// post sends a form of names and values.
func (v *visitor) post(path string, pairs ...string) answer {
	v.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return v.do(http.MethodPost, path, strings.NewReader(form.Encode()), "Content-Type", "application/x-www-form-urlencoded",
		"Origin", v.origin())
}

func (v *visitor) do(method, path string, body io.Reader, header ...string) answer {
	v.Helper()
	req, err := http.NewRequestWithContext(v.Context(), method, v.base+dashboard.Root+"/"+path, body)
	if err != nil {
		v.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := v.client.Do(req)
	if err != nil {
		v.Fatal(err)
	}
	defer resp.Body.Close()
	packed, err := io.ReadAll(resp.Body)
	if err != nil {
		v.Fatal(err)
	}
	a := answer{
		resp.StatusCode, resp.Header, resp.Request.URL.Path, resp.Request.URL.RequestURI(), string(packed), len(packed),
	}
	if resp.Header.Get("Content-Encoding") == "gzip" {
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			v.Fatal(err)
		}
		plain, err := io.ReadAll(r)
		if err != nil {
			v.Fatal(err)
		}
		a.text = string(plain)
	}
	return a
}

// want checks a status, and texts that are on the page.
func (v *visitor) want(a answer, status int, texts ...string) answer {
	v.Helper()
	if a.status != status {
		v.Errorf("%s: got %d, want %d: %s", a.path, a.status, status, strings.TrimSpace(plainOf(a.text)))
	}
	for _, text := range texts {
		if !strings.Contains(a.text, text) {
			v.Errorf("%s lacks %q:\n%s", a.path, text, a.text)
		}
	}
	return a
}

// plainOf is a page's main part without tags.
func plainOf(page string) string {
	_, page, _ = strings.Cut(page, "<main")
	var out strings.Builder
	in := true
	for _, c := range page {
		switch c {
		case '<':
			in = true
		case '>':
			in = false
		default:
			if !in {
				out.WriteRune(c)
			}
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// begin begins a job of a new message.
func (b *bench) begin(id, kind, payload string, edit ...func(*store.Begin)) store.Holder {
	b.Helper()
	m := store.Begin{
		Task: store.Task{
			JobID: id, Type: kind, Payload: json.RawMessage(payload), Hints: json.RawMessage(`{}`), Priority: "normal",
			MaxAttempts: 3, Fingerprint: task.Fingerprint(task.Task{Type: task.Type(kind), Payload: json.RawMessage(payload)}),
			RequestedBy: "user-17",
		},
		Worker: "app1/4711-x7k2ma", Lease: time.Hour, ID: uuid.NewString(),
		Source: store.Source{Queue: tenant + "-tasks", MessageID: uuid.NewString(), InsertedAt: time.Now()},
	}
	for _, e := range edit {
		e(&m)
	}
	begun, err := b.store.Begin(b.Context(), m)
	if err != nil || begun.Decision != store.Run {
		b.Fatalf("begin: %+v, %v", begun, err)
	}
	return store.Holder{JobID: id, Fence: begun.Fence}
}

func (b *bench) report(h store.Holder, events ...store.Event) {
	b.Helper()
	for i := range events {
		events[i].ID = uuid.NewString()
		if events[i].At.IsZero() {
			events[i].At = time.Now()
		}
	}
	if _, err := b.store.Heartbeat(b.Context(), store.Heartbeat{Holder: h, Lease: time.Hour, Events: events}); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) complete(h store.Holder, result string, effects ...store.Effect) {
	b.Helper()
	if _, err := b.store.Complete(b.Context(), store.Completion{
		Holder: h, Result: json.RawMessage(result), Effects: effects,
	}); err != nil {
		b.Fatal(err)
	}
}

// fail fails a job, and returns the id of its dead letter.
func (b *bench) fail(h store.Holder, class taskerr.Class, message string) string {
	b.Helper()
	j, err := b.store.Job(b.Context(), h.JobID)
	if err != nil {
		b.Fatal(err)
	}
	s, err := b.store.Fail(b.Context(), store.Failure{
		Holder: h, Reason: "permanent",
		Original: `{"task_id":"` + h.JobID + `","task_type":"` + j.Type + `","payload":` + string(j.Payload) + `}`,
		Error: store.ErrorInfo{
			Type: "Failed", Class: string(class), Code: strings.ToUpper(j.Type + "_" + string(class)), Message: message,
			Coarse: "permanent",
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return s.DeadLetter.ID
}

// secondPassage embeds every question as the second sample passage.
type secondPassage struct{}

func (secondPassage) Model() string { return "offline-hash-1" }

func (secondPassage) Dimensions() int { return 8 }

func (secondPassage) Embed(_ context.Context, inputs []string) (llm.Embeddings, error) {
	return llm.Embeddings{Vectors: slices.Repeat([][]float32{{1, 1, 0, 1, 0, 1, 0, 1}}, len(inputs))}, nil
}
