package models

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	storememory "github.com/seed-7227ef26/async-worker/internal/store/memory"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
	"github.com/seed-7227ef26/async-worker/queue/memory"
)

// embedding is a handler that embeds its task's id.
type embedding struct{ *openai.Embedder }

func (embedding) Spec() handlers.Spec {
	return handlers.Spec{
		Type: task.Ingest, Stages: []job.Stage{{Name: "embedding"}}, Needs: []taskerr.Dependency{taskerr.Model},
	}
}

func (embedding) Check(task.Task) error { return nil }

func (e embedding) Handle(ctx context.Context, c handlers.Call) (handlers.Outcome, error) {
	_, err := e.Embed(ctx, []string{c.Task.ID})
	return handlers.Outcome{Result: map[string]int{"n": 1}}, err
}

// A key that is revoked under many tasks costs none of them an attempt. They succeed when the service accepts it
// again; otherwise they fail with WaitExceeded.
func TestRevokedKey(t *testing.T) {
	const tasks = 40
	for name, mended := range map[string]bool{"for hours": true, "for ever": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := llmtest.NewInProcess(llmtest.Options{Dimensions: dimensions})
				embedder, err := openai.New(openai.Config{
					BaseURL: model.URL(), APIKey: llmtest.Key, Dimensions: dimensions, HTTPClient: model.Client(),
				})
				if err != nil {
					t.Fatal(err)
				}
				store := storememory.New()
				send, depth, stop := inMemory(t, store, embedder)
				defer stop()
				for i := range tasks / 2 {
					send(fmt.Sprint("t", i))
				}
				time.Sleep(time.Minute)
				model.Break(llmtest.WrongKey)
				for i := tasks / 2; i < tasks; i++ {
					send(fmt.Sprint("t", i))
				}
				time.Sleep(5 * time.Hour)
				if mended {
					model.Mend()
				}
				time.Sleep(8 * time.Hour)
				synctest.Wait()
				for i := range tasks {
					want, class := job.Succeeded, taskerr.Class("")
					if !mended && i >= tasks/2 {
						want, class = job.Failed, taskerr.WaitExceeded
					}
					r, ok := store.Row(fmt.Sprint("t", i))
					if !ok || r.State != want || taskerr.Class(r.Error.Class) != class || want == job.Succeeded &&
						r.Attempts != 1 {
						t.Errorf("t%d is %s after %d attempts (%+v), want %s", i, r.State, r.Attempts, r.Error, want)
					}
				}
				letters := 0
				if !mended {
					letters = tasks / 2
				}
				if n := depth(); n != letters {
					t.Errorf("%d dead letters, want %d", n, letters)
				}
				t.Logf("%d requests for %d tasks", model.Requests(), tasks)
			})
		})
	}
}

// inMemory runs an engine on in-memory back ends until stop is called. depth is of the dead letters.
func inMemory(
	t *testing.T, store *storememory.Jobs, embedder *openai.Embedder,
) (send func(id string), depth func() int, stop func()) {
	t.Helper()
	service, names := memory.New(memory.Options{}), task.QueueNames(client)
	queues := engine.Queues{
		High: service.Queue(names.High), Normal: service.Queue(names.Normal), Low: service.Queue(names.Low),
		DeadLetter: service.Queue(names.DeadLetter),
	}
	for _, q := range []queue.Queue{queues.High, queues.Normal, queues.Low, queues.DeadLetter} {
		if err := q.Ensure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	registry, err := handlers.NewRegistry(embedding{embedder})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Config{
		ClientID: client, Worker: "w", Concurrency: 4, Lease: time.Minute, PollMin: 100 * time.Millisecond,
		PollMax:     10 * time.Second,
		TaskTimeout: 5 * time.Minute, WaitMax: 6 * time.Hour,
	}, engine.Deps{
		Queues: queues, Store: store, Handlers: registry, Probes: engine.Probes{taskerr.Model: embedder.Probe},
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = e.Run(ctx) // always nil
	}()
	send = func(id string) {
		text := fmt.Sprintf(`{"task_id":%q,"task_type":"ingest","payload":{}}`, id)
		if _, err := queues.Normal.Send(t.Context(), text, queue.SendOptions{}); err != nil {
			t.Error(err)
		}
	}
	depth = func() int {
		n, err := queues.DeadLetter.Depth(t.Context())
		if err != nil {
			t.Error(err)
		}
		return n
	}
	return send, depth, func() {
		end()
		<-ended
		if err := service.Close(); err != nil {
			t.Error(err)
		}
	}
}
