package reindex

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Options are those of a Rig. All are required but Latency.
type Options struct {
	URL        string // of a migrated database, as a superuser
	Dir        string // of blobs and temporary files
	Dimensions int
	Latency    time.Duration // of each model call
}

// Rig is ingest on a real Postgres and a folder of blobs, with a model that counts.
type Rig struct {
	store   store.Store
	super   *pgx.Conn
	bucket  *countingBucket
	model   *countingModel
	handler *ingest.Handler
	jobs    int
}

// NewRig opens a rig. Close it.
func NewRig(ctx context.Context, o Options) (*Rig, error) {
	embedder, err := offline.New(o.Dimensions)
	if err != nil {
		return nil, err
	}
	r := &Rig{
		bucket: &countingBucket{Bucket: dir.New(o.Dir + "/blobs")},
		model:  &countingModel{Embedder: embedder, latency: o.Latency},
	}
	if r.super, err = pgx.Connect(ctx, o.URL); err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	// A sequence also counts what is rolled back.
	if _, err := r.super.Exec(ctx, `create sequence if not exists chunk_writes;
		grant usage on sequence chunk_writes to public;
		create or replace function count_chunk_write() returns trigger language plpgsql as
			$$ begin perform nextval('public.chunk_writes'); return null; end $$;
		create or replace trigger count_chunk_writes after insert or update on document_chunks
			for each row execute function count_chunk_write()`); err != nil {
		return nil, fmt.Errorf("count written chunks: %w", err)
	}
	if r.store, err = postgres.Open(ctx, o.URL, postgres.Options{
		ClientID: "reindex", Dimensions: o.Dimensions,
		MaxConns: 4,
	}); err != nil {
		return nil, err
	}
	if err := r.bucket.Ensure(ctx); err != nil {
		return nil, err
	}
	r.handler = ingest.New(ingest.Deps{
		Bucket: r.bucket, Extractor: extract.NewRouter(native.Extractors(pdf.New(), nil)), Documents: r.store,
		Embedder: r.model, Counter: token.New(), Limits: extract.DefaultLimits, TempDir: o.Dir,
	})
	return r, nil
}

// Close closes the connections.
func (r *Rig) Close(ctx context.Context) error {
	if r.store != nil {
		r.store.Close()
	}
	return r.super.Close(ctx)
}

// Put uploads a blob.
func (r *Rig) Put(ctx context.Context, name string, content []byte) error {
	_, err := r.bucket.Put(ctx, name, bytes.NewReader(content), "")
	return err
}

// Cost is the cost of one ingest.
type Cost struct {
	ingest.Result
	Version     int   `json:"version"`
	ModelCalls  int64 `json:"-"`
	ModelInputs int64 `json:"-"`
	ChunkRows   int64 `json:"-"` // inserted or updated
	Bytes       int64 `json:"-"` // downloaded
	Took        time.Duration
}

// Ingest runs the task of a document to its end, as the engine would.
func (r *Rig) Ingest(ctx context.Context, filename string) (Cost, error) {
	r.jobs++
	id := fmt.Sprint("job-", r.jobs)
	payload, err := json.Marshal(map[string]string{"filename": filename, "document_set": "books"})
	if err != nil {
		return Cost{}, err
	}
	rows, err := r.rows(ctx)
	if err != nil {
		return Cost{}, err
	}
	calls, inputs, read, started := r.model.calls.Load(), r.model.inputs.Load(), r.bucket.bytes.Load(), time.Now()
	begun, err := r.store.Begin(ctx, store.Begin{
		Task: store.Task{
			JobID: id, Type: "ingest", Payload: payload, Hints: json.RawMessage("{}"), Priority: "normal",
			Fingerprint: id, MaxAttempts: 1,
		},
		Worker: "reindex", Lease: time.Hour, Source: store.Source{MessageID: id},
	})
	if err != nil {
		return Cost{}, err
	}
	holder := store.Holder{JobID: id, Fence: begun.Fence}
	out, err := r.handler.Handle(ctx, handlers.Call{
		Task: task.Task{ID: id, Type: task.Ingest, Payload: payload}, Holder: holder, Attempt: begun.Attempt,
		Progress: &handlertest.Progress{},
	})
	if err != nil {
		return Cost{}, err
	}
	result, err := json.Marshal(out.Result)
	if err != nil {
		return Cost{}, err
	}
	settled, err := r.store.Complete(ctx, store.Completion{Holder: holder, Result: result, Effects: out.Effects})
	if err != nil {
		return Cost{}, err
	}
	c := Cost{
		ModelCalls: r.model.calls.Load() - calls, ModelInputs: r.model.inputs.Load() - inputs,
		Bytes: r.bucket.bytes.Load() - read, Took: time.Since(started),
	}
	if err := json.Unmarshal(settled.Result, &c); err != nil {
		return Cost{}, err
	}
	after, err := r.rows(ctx)
	c.ChunkRows = after - rows
	return c, err
}

// rows is how many chunk rows were written so far.
func (r *Rig) rows(ctx context.Context) (n int64, err error) {
	err = r.super.QueryRow(ctx, "select case when is_called then last_value else 0 end from chunk_writes").Scan(&n)
	return n, err
}

// countingModel is the offline provider with a latency.
type countingModel struct {
	llm.Embedder
	latency       time.Duration
	calls, inputs atomic.Int64
}

func (m *countingModel) Embed(ctx context.Context, inputs []string) (llm.Embeddings, error) {
	m.calls.Add(1)
	m.inputs.Add(int64(len(inputs)))
	if m.latency > 0 {
		select {
		case <-time.After(m.latency):
		case <-ctx.Done():
			return llm.Embeddings{}, context.Cause(ctx)
		}
	}
	return m.Embedder.Embed(ctx, inputs)
}

// countingBucket counts downloaded bytes.
type countingBucket struct {
	blob.Bucket
	bytes atomic.Int64
}

func (b *countingBucket) OpenChanged(ctx context.Context, name, etag string) (blob.Properties, io.ReadCloser, error) {
	p, body, err := b.Bucket.OpenChanged(ctx, name, etag)
	if err != nil {
		return p, nil, err
	}
	return p, &countingBody{body, b}, nil
}

type countingBody struct {
	io.ReadCloser
	b *countingBucket
}

func (c *countingBody) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.b.bytes.Add(int64(n))
	return n, err
}
