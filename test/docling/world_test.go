package docling_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	wire "github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/docling/doclingtest"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/docling"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/text"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// world is a tenant on in-memory back ends, in the virtual time of a synctest bubble.
type world struct {
	*testing.T
	docling *doclingtest.Server
	jobs    *storememory.Jobs
	docs    *documents
	bucket  *dir.Bucket
	shelf   *shelf
	queues  engine.Queues
	auto    bool // EXTRACTOR=auto
	temp    string
}

func inWorld(t *testing.T, options doclingtest.Options, test func(w *world)) {
	t.Helper()
	blobs, temp := t.TempDir(), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		options.InMemory = true
		service := memory.New(memory.Options{})
		names := task.QueueNames("acme")
		w := &world{
			T: t, docling: doclingtest.New(t, options), jobs: storememory.New(), docs: &documents{},
			bucket: dir.New(blobs), shelf: &shelf{}, temp: temp,
			queues: engine.Queues{
				High: service.Queue(names.High), Normal: service.Queue(names.Normal), Low: service.Queue(names.Low),
				DeadLetter: service.Queue(names.DeadLetter),
			},
		}
		for _, q := range []queue.Queue{w.queues.High, w.queues.Normal, w.queues.Low, w.queues.DeadLetter} {
			if err := q.Ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		defer func() {
			if err := service.Close(); err != nil {
				t.Error(err)
			}
		}()
		test(w)
	})
}

// worker is a running engine.
type worker struct {
	*engine.Engine
	stop  context.CancelFunc
	ended chan struct{}
}

// start runs a worker until the returned function is called.
func (w *world) start() *worker {
	w.Helper()
	client, err := wire.New(wire.Options{
		URL: w.docling.URL(), APIKey: doclingtest.Key, HTTP: w.docling.Client(), TempDir: w.temp,
	})
	if err != nil {
		w.Fatal(err)
	}
	var reader extract.Extractor = docling.New(client, w.shelf)
	needs := taskerr.Docling
	if w.auto {
		reader, needs = docling.WithFallback(docling.New(client, w.shelf), text.New(),
			docling.NewOutages(slog.New(slog.DiscardHandler))), ""
	}
	embedder, err := offline.New(16)
	if err != nil {
		w.Fatal(err)
	}
	registry, err := handlers.NewRegistry(ingest.New(ingest.Deps{
		Bucket: w.bucket, Documents: w.docs, Embedder: embedder, Counter: token.New(), Limits: extract.DefaultLimits,
		TempDir: w.temp, ExtractorNeeds: needs,
		Extractor: extract.NewRouter(map[extract.Format]extract.Extractor{
			extract.Markdown: reader, extract.Text: text.New(),
		}),
	}))
	if err != nil {
		w.Fatal(err)
	}
	e, err := engine.New(engine.Config{
		ClientID: "acme", Worker: "w", Concurrency: 4, Lease: time.Minute,
		PollMin: 100 * time.Millisecond, PollMax: 10 * time.Second, TaskTimeout: 30 * time.Minute,
		DrainMax: 5 * time.Minute,
	}, engine.Deps{
		Queues: w.queues, Store: w.jobs, Handlers: registry, Log: slog.New(slog.DiscardHandler),
		Probes: engine.Probes{
			taskerr.Docling:  client.Probe,
			taskerr.Database: func(context.Context) error { return w.docs.down() },
		},
	})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	run := &worker{Engine: e, stop: cancel, ended: make(chan struct{})}
	go func() {
		defer close(run.ended)
		if err := e.Run(ctx); err != nil {
			w.Error(err)
		}
	}()
	return run
}

// end drains the worker.
func (r *worker) end() {
	r.stop()
	<-r.ended
}

// send uploads a document and sends its task.
func (w *world) send(id, filename, content string) {
	w.Helper()
	if _, err := w.bucket.Put(w.Context(), filename, strings.NewReader(content), ""); err != nil {
		w.Fatal(err)
	}
	message := fmt.Sprintf(`{"task_id":%q,"task_type":"ingest","payload":{"filename":%q,"document_set":"d"}}`, id,
		filename)
	if _, err := w.queues.Normal.Send(w.Context(), message, queue.SendOptions{}); err != nil {
		w.Fatal(err)
	}
}

// pass advances virtual time.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// expect checks how a job ended.
func (w *world) expect(id string, state job.State, attempts int) ingest.Result {
	w.Helper()
	row, ok := w.jobs.Row(id)
	if !ok || row.State != state || row.Attempts != attempts {
		w.Fatalf("job %s is %s after %d attempts (%s), want %s after %d", id, row.State, row.Attempts,
			row.Error.Message, state, attempts)
	}
	var r ingest.Result
	if row.Result != nil {
		if err := json.Unmarshal(row.Result, &r); err != nil {
			w.Fatal(err)
		}
	}
	return r
}

func (w *world) paid(want int) {
	w.Helper()
	if got := w.docling.Conversions(); got != want {
		w.Errorf("%d conversions were paid, want %d", got, want)
	}
}

// documents accepts staged work, and fails on demand.
type documents struct {
	store.Documents // nil: a document's first version needs no other method

	mu     sync.Mutex
	broken bool // staging chunks fails as if the database were down
}

func (d *documents) fail(broken bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.broken = broken
}

var errDown = taskerr.Blame(taskerr.Database, taskerr.Errorf(taskerr.TransientStorage, "the database is down"))

// down is the result of a probe of the database.
func (d *documents) down() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return errDown
	}
	return nil
}

func (*documents) StageDocument(context.Context, store.Staging) (store.StagedVersion, error) {
	return store.StagedVersion{DocumentID: "1", Version: 1}, nil
}

func (*documents) KnownChunks(context.Context, []string) (map[string]bool, error) { return nil, nil }

func (d *documents) StageChunks(context.Context, store.ChunkBatch) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return nil, errDown
	}
	return nil, nil
}

// shelf keeps results in memory.
type shelf struct {
	mu   sync.Mutex
	kept map[string]string
}

func (s *shelf) Open(_ context.Context, sha256 string) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text, ok := s.kept[sha256]; ok {
		return io.NopCloser(strings.NewReader(text)), nil
	}
	return nil, nil
}

func (s *shelf) Put(_ context.Context, sha256 string, result io.Reader) error {
	raw, err := io.ReadAll(result)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[string]string{}
	}
	s.kept[sha256] = string(raw)
	return errors.Join(err)
}
