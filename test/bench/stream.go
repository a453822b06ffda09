package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

const (
	streamTasks  = 40 // of each type
	streamAtOnce = 4
	streamPace   = 30 * time.Millisecond  // between two pieces of the model
	streamLook   = 2 * time.Millisecond   // between two queries of the events
	streamAim    = 300 * time.Millisecond // from the model's first piece to the first event
	streamWidth  = 8                      // of vectors
)

// measureStream prints the time from the first piece of an answer that the model sends to the first event with text
// that others can read, of tasks with tools and without. The answers take about a second each.
func measureStream(ctx context.Context, out io.Writer) (err error) {
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{})
	if err != nil {
		return err
	}
	defer stopping(&err, pg.Stop)
	if err := ensureDatabase(ctx, pg, "stream"); err != nil {
		return err
	}
	url := pg.URL("stream")
	if _, err := schema.Migrate(ctx, url, schema.Options{Dimensions: streamWidth}); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	stub, stopStub, err := startStub(ctx)
	if err != nil {
		return err
	}
	defer stopStub()
	fmt.Fprintf(out, "From the model's first piece of an answer to the first event with text, %d tasks of each "+
		"type, %d at a time; the aim is %v:\n",
		streamTasks, streamAtOnce, streamAim)
	for _, kind := range []task.Type{task.AI, task.Agent} {
		waits, err := streamed(ctx, stub, url, kind)
		if err != nil {
			return err
		}
		slices.Sort(waits)
		most := waits[len(waits)-1]
		fmt.Fprintf(out, "  %-6s p50 %v, p90 %v, most %v\n", kind, ms(waits[len(waits)/2]), ms(waits[len(waits)*9/10]),
			ms(most))
		if most > streamAim {
			return fmt.Errorf("%s: the first event came after %v, later than %v", kind, ms(most), streamAim)
		}
	}
	return nil
}

// streamed runs the tasks of a type and returns how long each one's first event took.
func streamed(ctx context.Context, stub, url string, kind task.Type) ([]time.Duration, error) {
	db, err := postgres.Open(ctx, url, postgres.Options{
		ClientID: client, Dimensions: streamWidth, MaxConns: postgres.PoolFor(streamAtOnce),
	})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	began := &moments{at: map[string]time.Time{}}
	deps, err := streamDeps(began)
	if err != nil {
		return nil, err
	}
	deps.Store = db
	r, err := newRig(ctx, stub, db, streamAtOnce)
	if err != nil {
		return nil, err
	}
	var h handlers.Handler = agent.New(deps)
	if kind == task.AI {
		h = agent.NewAI(deps)
	}
	r.handler = h
	q, err := bareQueue(stub, task.QueueNames(client).Normal)
	if err != nil {
		return nil, err
	}
	id := func(i int) string { return fmt.Sprintf("%s.%d", kind, i) }
	if err := fill(ctx, q, streamTasks, func(i int) string {
		return fmt.Sprintf(`{"task_id":%q,"task_type":%q,"payload":{"prompt":"Tell a story. (task %s)"}}`, id(i), kind,
			id(i))
	}); err != nil {
		return nil, err
	}
	if err := r.start(ctx, streamTasks); err != nil {
		return nil, err
	}
	seen := &moments{at: map[string]time.Time{}}
	if err := seen.watch(ctx, url, r.counter.reached); err != nil {
		return nil, err
	}
	if err := r.close(); err != nil {
		return nil, err
	}
	var waits []time.Duration
	for i := range streamTasks {
		event, ok := seen.at[id(i)]
		if !ok {
			return nil, fmt.Errorf("the task %s has no event with text", id(i))
		}
		waits = append(waits, event.Sub(began.at[id(i)]))
	}
	return waits, nil
}

// moments are when something of a task was first seen.
type moments struct {
	mu sync.Mutex
	at map[string]time.Time
}

func (m *moments) note(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.at[id]; !known {
		m.at[id] = time.Now()
	}
}

// watch polls for events with text until the tasks are done.
func (m *moments) watch(ctx context.Context, url string, done <-chan struct{}) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to watch the events: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	deadline := time.After(patience)
	for {
		rows, err := conn.Query(ctx, `select distinct job_id from job_events where metadata ? 'delta'`)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, id := range ids {
			m.note(id)
		}
		select {
		case <-done:
			return nil
		case <-deadline:
			return fmt.Errorf("not all tasks have ended within %v", patience)
		case <-time.After(streamLook):
		}
	}
}

// named finds the task of a prompt.
var named = regexp.MustCompile(`\(task ([a-z0-9.]+)\)`)

// streamDeps are a model that tells stories, at a pace, and records when it begins. With tools the story is the
// argument of the last call.
func streamDeps(began *moments) (agent.Deps, error) {
	story := strings.Repeat("Once there was a harbour. ", 8)
	s := llmtest.NewInProcess(llmtest.Options{Reply: func(r llmtest.ChatRequest) llmtest.Reply {
		reply := llmtest.Reply{Text: story, Before: func(piece int) {
			if piece == 0 {
				began.note(named.FindStringSubmatch(r.Text)[1])
			}
			time.Sleep(streamPace)
		}}
		if r.Find("finish") != nil {
			reply.Text, reply.Calls = "", []llm.ToolCall{
				{Name: "finish", Arguments: `{"answer":"` + story + `","citations":[]}`},
			}
		}
		return reply
	}})
	chat, err := openai.NewChat(openai.Config{
		BaseURL: s.URL(), APIKey: llmtest.Key, Model: "gpt-4o-mini", HTTPClient: s.Client(),
	})
	if err != nil {
		return agent.Deps{}, err
	}
	embedder, err := offline.New(streamWidth)
	if err != nil {
		return agent.Deps{}, err
	}
	return agent.Deps{
		Find: search.Finder{Embedder: embedder}.Find, Chat: chat, Counter: token.New(), Window: openai.DefaultWindow,
	}, nil
}
