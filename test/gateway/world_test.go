package gateway_test

import (
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/einvoice/einvoicetest"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

// answers are kept answers in memory, for virtual time; the SQL is tested in storetest.
type answers struct {
	store.Summaries
	mu   sync.Mutex
	kept map[string]store.AnswerFile
}

// HoldDocument says that an attempt has its job.
func (a *answers) HoldDocument(context.Context, store.Holder, int) (int, error) { return 0, nil }

func (a *answers) ClaimAnswer(_ context.Context, q store.AnswerQuestion) (store.AnswerClaim, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if f, there := a.kept[q.Key]; there && !q.Fresh {
		return store.AnswerClaim{Kept: true, AnswerFile: f}, nil
	}
	return store.AnswerClaim{Claim: q.Fence}, nil
}

func (a *answers) KeepAnswer(_ context.Context, k store.Answer) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept[k.Key] = k.AnswerFile
	return "", nil
}

func (*answers) ExpireAnswers(context.Context, time.Duration, int) ([]store.ExpiredAnswer, error) {
	return nil, nil
}

func (*answers) ForgetAnswers(context.Context, []store.ExpiredAnswer) (int, error) { return 0, nil }

func (*answers) Derived(context.Context, store.DerivedQuery) (store.DerivedAnswer, error) {
	return store.DerivedAnswer{}, nil
}

// world is an engine with xml tasks and a gateway, in the virtual time of a synctest bubble.
type world struct {
	*testing.T
	gateway *gatewaytest.Server
	store   *storememory.Jobs
	queues  engine.Queues
}

const maxAnswer = 4 << 20

func inWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	if _, err := exec.LookPath("pdfdetach"); err != nil {
		t.Skip("pdfdetach is not installed: apt install poppler-utils")
	}
	synctest.Test(t, func(t *testing.T) {
		service, names := memory.New(memory.Options{}), task.QueueNames("acme")
		w := &world{
			T: t, gateway: gatewaytest.New(t, gatewaytest.Options{InMemory: true}), store: storememory.New(),
			queues: engine.Queues{
				High: service.Queue(names.High), Normal: service.Queue(names.Normal),
				Low: service.Queue(names.Low), DeadLetter: service.Queue(names.DeadLetter),
			},
		}
		for _, q := range []queue.Queue{w.queues.High, w.queues.Normal, w.queues.Low, w.queues.DeadLetter} {
			if err := q.Ensure(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		stop := w.start()
		defer func() {
			stop()
			if err := service.Close(); err != nil {
				t.Error(err)
			}
		}()
		f(w)
	})
}

// start runs the engine; the function that it returns stops it.
func (w *world) start() (stop func()) {
	w.Helper()
	bucket, temp := dir.New(w.TempDir()), w.TempDir()
	if err := bucket.Ensure(w.Context()); err != nil {
		w.Fatal(err)
	}
	pdf := string(einvoicetest.PDF([]string{"An invoice"}))
	if _, err := bucket.Put(w.Context(), "in.pdf", strings.NewReader(pdf), ""); err != nil {
		w.Fatal(err)
	}
	client, err := gateway.New(gateway.Options{URL: w.gateway.URL(), HTTP: w.gateway.Client(), MaxAnswer: maxAnswer})
	if err != nil {
		w.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	registry, err := handlers.NewRegistry(xml.New(xml.Deps{
		Bucket: bucket, Gateway: client, Limits: extract.Limits{Bytes: 1 << 20}, TempDir: temp, Log: log, Concurrency: 4,
		Store: &answers{kept: map[string]store.AnswerFile{}},
	}))
	if err != nil {
		w.Fatal(err)
	}
	e, err := engine.New(engine.Config{
		ClientID: "acme", Worker: "w1", Concurrency: 4, Lease: time.Minute, PollMin: 100 * time.Millisecond,
		PollMax: 10 * time.Second, TaskTimeout: 30 * time.Minute, DrainMax: time.Minute,
		ProbeFirst: map[taskerr.Dependency]time.Duration{taskerr.Gateway: 10 * time.Second},
	}, engine.Deps{
		Queues: w.queues, Store: w.store, Bucket: bucket, Handlers: registry, Log: log,
		Probes: engine.Probes{taskerr.Gateway: client.Probe},
	})
	if err != nil {
		w.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := e.Run(ctx); err != nil {
			w.Error(err)
		}
	}()
	return func() { cancel(); <-ended }
}

func (w *world) send(id, hints string) {
	w.Helper()
	text := fmt.Sprintf(`{"task_id":%q,"task_type":"xml","payload":{"filename":"in.pdf"},"hints":{%s}}`, id, hints)
	if _, err := w.queues.Normal.Send(w.Context(), text, queue.SendOptions{}); err != nil {
		w.Fatal(err)
	}
}

// ends waits, in virtual time, until a job has ended, and returns its row and how long that took.
func (w *world) ends(id string) (storememory.Row, time.Duration) {
	w.Helper()
	began := time.Now()
	for time.Since(began) < 24*time.Hour {
		time.Sleep(100 * time.Millisecond) // virtual
		synctest.Wait()
		if r, there := w.store.Row(id); there && r.State.Terminal() {
			return r, time.Since(began)
		}
	}
	w.Fatalf("job %s does not end", id)
	return storememory.Row{}, 0
}
