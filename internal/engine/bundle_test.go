package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// handlerFunc is a handler of the type "test" whose work is a function.
type handlerFunc func(ctx context.Context, c handlers.Call) (handlers.Outcome, error)

func (f handlerFunc) Spec() handlers.Spec {
	return handlers.Spec{
		Type: "test", Stages: []job.Stage{{Name: "first", Start: 0}, {Name: "second", Start: 50}},
		Policy: job.Policy{MaxAttempts: 3, Base: 2 * time.Second, Cap: 30 * time.Second, Jitter: job.FullJitter},
	}
}

func (f handlerFunc) Check(t task.Task) error {
	var p struct {
		Refuse  bool `json:"refuse"`
		Explode bool `json:"explode"`
	}
	if err := json.Unmarshal(t.Payload, &p); err != nil {
		return err
	}
	if p.Explode {
		panic("a bug in a check")
	}
	if p.Refuse {
		return taskerr.Errorf(taskerr.ValidationError, "payload.refuse is true")
	}
	return nil
}

func (f handlerFunc) Handle(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	return f(ctx, c)
}

// world is an engine on in-memory back ends, in the virtual time of a synctest bubble.
type world struct {
	*testing.T
	cfg      engine.Config
	store    *storememory.Jobs
	jobs     store.Jobs // what the engine sees: store, unless a test puts something before it
	queues   engine.Queues
	engine   *engine.Engine
	observer engine.Observer // nil: none
	free     bool            // requests to the queues cost nothing
	bucket   blob.Bucket     // nil: there are no claim checks
	outbox   func()          // nil: nobody waits for webhooks
	logs     *logbook
	due      func() int // nil: nobody knows how many webhooks are due
	probes   engine.Probes
	resent   time.Time // when the task was sent again; zero: it was not
	stop     context.CancelFunc
	ended    chan struct{}
}

// logbook keeps what was logged.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *logbook) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *logbook) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// inWorld runs a test in a bubble with an engine that is not started yet.
func inWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		service := memory.New(memory.Options{})
		names := task.QueueNames("acme")
		w := &world{
			T: t, store: storememory.New(), logs: &logbook{},
			cfg: engine.Config{
				ClientID: "acme", Worker: "w1", Concurrency: 4, Lease: time.Minute,
				PollMin: 100 * time.Millisecond, PollMax: 10 * time.Second, TaskTimeout: 30 * time.Minute,
				DrainMax: 5 * time.Minute,
			},
			queues: engine.Queues{
				High: service.Queue(names.High), Normal: service.Queue(names.Normal),
				Low: service.Queue(names.Low), DeadLetter: service.Queue(names.DeadLetter),
			},
		}
		w.jobs = w.store
		for _, q := range []queue.Queue{w.queues.High, w.queues.Normal, w.queues.Low, w.queues.DeadLetter} {
			if err := q.Ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		defer func() {
			w.shutdown()
			if err := service.Close(); err != nil {
				t.Error(err)
			}
		}()
		f(w)
	})
}

// start runs the engine with the work of a "test" task.
func (w *world) start(f handlerFunc) {
	w.Helper()
	w.startWith(f)
}

// startWith runs the engine with handlers.
func (w *world) startWith(hs ...handlers.Handler) {
	w.Helper()
	registry, err := handlers.NewRegistry(hs...)
	if err != nil {
		w.Fatal(err)
	}
	w.engine, err = engine.New(w.cfg, engine.Deps{
		Queues: w.queues, Billed: !w.free, Store: w.jobs, Handlers: registry, Observer: w.observer, Outbox: w.outbox, Bucket: w.bucket,
		WebhooksDue: w.due, Probes: w.probes, Log: slog.New(slog.NewTextHandler(w.logs, nil)),
	})
	if err != nil {
		w.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop, w.ended = stop, make(chan struct{})
	go func() {
		defer close(w.ended)
		if err := w.engine.Run(ctx); err != nil {
			w.Error(err)
		}
	}()
}

func (w *world) shutdown() {
	if w.stop != nil {
		w.stop()
		<-w.ended
	}
}

func (w *world) send(q queue.Queue, text string) {
	w.Helper()
	if _, err := q.Send(w.Context(), text, queue.SendOptions{}); err != nil {
		w.Fatal(err)
	}
}

// message is a task of the type "test".
func message(id string, extra string) string {
	return fmt.Sprintf(`{"task_id":%q,"task_type":"test","payload":{"n":1%s}}`, id, extra)
}

// settled lets virtual time pass until nothing more happens within d.
func (w *world) settled(d time.Duration) {
	time.Sleep(d) // virtual: the bubble's clock
	synctest.Wait()
}

func (w *world) row(id string) storememory.Row {
	w.Helper()
	r, ok := w.store.Row(id)
	if !ok {
		w.Fatalf("there is no job %s", id)
	}
	return r
}

func (w *world) expectState(id string, want job.State, attempts int) {
	w.Helper()
	if r := w.row(id); r.State != want || r.Attempts != attempts {
		w.Errorf("job %s is %s after %d attempts (%s), want %s after %d", id, r.State, r.Attempts, r.Error.Message,
			want, attempts)
	}
}

// expectLog checks that a line of the log holds all of the texts.
func (w *world) expectLog(texts ...string) {
	w.Helper()
	for line := range strings.SplitSeq(w.logs.String(), "\n") {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			return
		}
	}
	w.Errorf("no line of the log holds %q; it is\n%s", texts, w.logs)
}

// expectDepth checks how many messages a queue holds.
func (w *world) expectDepth(q queue.Queue, want int) {
	w.Helper()
	got, err := q.Depth(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	if got != want {
		w.Errorf("queue %s holds %d messages, want %d", q.Name(), got, want)
	}
}

func done(context.Context, handlers.Call) (handlers.Outcome, error) {
	return handlers.Outcome{Result: map[string]int{"answer": 42}}, nil
}
