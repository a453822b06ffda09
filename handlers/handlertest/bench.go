// Package handlertest runs a handler in tests like the engine, on a real Postgres and a folder of blobs.
package handlertest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Bench is the environment of a handler.
type Bench struct {
	*testing.T
	URL    string // of the database
	Store  store.Store
	Bucket *dir.Bucket
	Blobs  string // the bucket's folder
	Temp   string // for temporary files; Complete checks that it is empty
	// Job is the template of all jobs; id, fingerprint, payload and message are set for each.
	Job store.Begin

	jobs *atomic.Int64
}

// New returns a bench with its own database.
func New(t *testing.T, kind task.Type, dimensions int) *Bench {
	t.Helper()
	b := &Bench{
		T: t, URL: stacktest.PostgresWith(t, schema.Options{Dimensions: dimensions}),
		Blobs: t.TempDir(), Temp: t.TempDir(), jobs: new(atomic.Int64),
		Job: store.Begin{
			Task: store.Task{
				Type: string(kind), Hints: json.RawMessage("{}"), Priority: "normal", MaxAttempts: 3,
			}, Worker: "w", Lease: time.Minute,
		},
	}
	var err error
	b.Store, err = postgres.Open(t.Context(), b.URL,
		postgres.Options{ClientID: "acme", Dimensions: dimensions, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Store.Close)
	b.Bucket = dir.New(b.Blobs)
	if err := b.Bucket.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	return b
}

// With returns the same bench for a subtest.
func (b *Bench) With(t *testing.T) *Bench {
	other := *b
	other.T = t
	return &other
}

// Put uploads a blob.
func (b *Bench) Put(name, content string) {
	b.Helper()
	if _, err := b.Bucket.Put(b.Context(), name, strings.NewReader(content), ""); err != nil {
		b.Fatal(err)
	}
}

// Get returns a blob's content.
func (b *Bench) Get(name string) string {
	b.Helper()
	_, body, err := b.Bucket.Open(b.Context(), name)
	if err != nil {
		b.Fatal(err)
	}
	defer body.Close()
	content, err := io.ReadAll(body)
	if err != nil {
		b.Fatal(err)
	}
	return string(content)
}

// Begin starts the first attempt of a new job.
func (b *Bench) Begin(payload string, hints task.Hints) handlers.Call {
	b.Helper()
	return b.BeginAs("", task.Type(b.Job.Type), payload, hints)
}

// BeginAs starts an attempt of the job with this id and type; an empty id: a new job. With hints.Force a finished job
// starts another series of attempts.
func (b *Bench) BeginAs(id string, kind task.Type, payload string, hints task.Hints) handlers.Call {
	b.Helper()
	if id == "" {
		id = fmt.Sprint("job-", b.jobs.Add(1))
	}
	job := b.Job
	job.JobID, job.Fingerprint, job.Type, job.Payload, job.Force = id, id, string(kind), json.RawMessage(payload),
		hints.Force
	job.Source.MessageID = fmt.Sprint(id, time.Now())
	begun, err := b.Store.Begin(b.Context(), job)
	if err != nil || begun.Decision != store.Run {
		b.Fatalf("begin: %v, %v", begun.Decision, err)
	}
	return handlers.Call{
		Task:   task.Task{ID: id, Type: kind, Payload: job.Payload, Hints: hints},
		Holder: store.Holder{JobID: id, Fence: begun.Fence}, Attempt: begun.Attempt, Progress: &Progress{},
	}
}

// Complete commits an outcome and decodes the result, which has the form of a webhook's. It checks that no temporary
// file is left.
func (b *Bench) Complete(c handlers.Call, out handlers.Outcome, result any) {
	b.Helper()
	raw, err := json.Marshal(out.Result)
	if err != nil {
		b.Fatal(err)
	}
	settled, err := b.Store.Complete(b.Context(), store.Completion{Holder: c.Holder, Result: raw, Effects: out.Effects})
	if err != nil {
		b.Fatalf("complete: %v", err)
	}
	if err := json.Unmarshal(settled.Result, result); err != nil {
		b.Fatalf("result %s: %v", settled.Result, err)
	}
	b.CheckTemp()
}

// CheckTemp fails the test if a temporary file is left.
func (b *Bench) CheckTemp() {
	b.Helper()
	if left, err := os.ReadDir(b.Temp); err != nil || len(left) > 0 {
		b.Errorf("temporary files are left: %v, %v", left, err)
	}
}

// Query returns the one value that a query selects.
func Query[T any](b *Bench, sql string, args ...any) (value T) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), b.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(b.Context()) }()
	if err := conn.QueryRow(b.Context(), sql, args...).Scan(&value); err != nil {
		b.Fatalf("%s: %v", sql, err)
	}
	return value
}
