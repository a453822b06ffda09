package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// The first tenant has the requested number of chunks, and the second a tenth of that, written through PostgREST.
const (
	second      = "second"
	embedModel  = "bench-model"
	ingestBatch = 64 // chunks at a time, as ingest writes them
	turns       = 10 // of the bare COPY and of the store, alternating
	leastRatio  = 0.7
	leastRecall = 0.95
)

// Settings of the server. Its log costs both sides the same.
var indexServer = []string{"shared_buffers=512MB", "max_wal_size=4GB", "work_mem=16MB"}

type indexOptions struct {
	rows    int
	queries int
	seed    uint64
}

// indexBench is a server with both tables.
type indexBench struct {
	indexOptions
	out    io.Writer
	sample *sample
	pg     *stack.Postgres
	url    string
	super  *pgx.Conn
	server *server
	asked  []question
}

// question is a query and the chunk that it was made from.
type question struct {
	vector []float32
	words  string
	source string // content of the chunk
}

// measureIndex prints the rate of writing chunks, compared with a bare COPY, and the quality and speed of finding
// them.
func measureIndex(ctx context.Context, out io.Writer, o indexOptions) (err error) {
	if o.rows < turns*perDocument || o.queries < 1 {
		return fmt.Errorf("-rows %d, -queries %d: use at least %d and 1", o.rows, o.queries, turns*perDocument)
	}
	pg, err := stack.StartPostgres(ctx, stack.PostgresOptions{Settings: indexServer})
	if err != nil {
		return err
	}
	defer stopping(&err, pg.Stop)
	b := &indexBench{
		indexOptions: o, out: out, sample: newSample(o.seed, schema.DefaultDimensions), pg: pg, url: pg.URL("index"),
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	defer b.super.Close(context.WithoutCancel(ctx))
	fmt.Fprintf(out, "%d chunks × %d dimensions in %d documents, seed %d: %d topics, Zipf's words.\n\n",
		o.rows/perDocument*perDocument, schema.DefaultDimensions, o.rows/perDocument, o.seed, topics)
	if err := b.write(ctx); err != nil {
		return err
	}
	if err := b.writeThroughPostgREST(ctx); err != nil {
		return err
	}
	return b.search(ctx)
}

// prepare makes the schema, and a table like document_chunks with all its indexes, but without policies, foreign
// keys, tenants or jobs.
func (b *indexBench) prepare(ctx context.Context) error {
	if err := ensureDatabase(ctx, b.pg, "index"); err != nil {
		return err
	}
	if err := stack.SupabaseRoles(ctx, b.url, authenticatorPassword); err != nil {
		return err
	}
	if _, err := schema.Migrate(ctx, b.url, schema.Options{}); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	var err error
	if b.super, err = pgx.Connect(ctx, b.url); err != nil {
		return err
	}
	var pid int
	if err := b.super.QueryRow(ctx, "select pg_backend_pid()").Scan(&pid); err != nil {
		return err
	}
	backend, err := processOf(pid)
	if err != nil {
		return err
	}
	b.server = &server{conn: b.super, postmaster: backend.parent}
	_, err = b.super.Exec(ctx, "create table bare (like document_chunks including all)")
	return err
}

// write alternates the bare COPY and the store over the same rows: the machine's other load affects both.
func (b *indexBench) write(ctx context.Context) error {
	s, err := postgres.Open(ctx, b.url, postgres.Options{
		ClientID: client, MaxConns: 4, Dimensions: schema.DefaultDimensions,
	})
	if err != nil {
		return err
	}
	defer s.Close()
	var bare, ours effort
	documents := b.rows / perDocument
	for turn := range turns {
		var all []bulkDocument
		for i := turn * documents / turns; i < (turn+1)*documents/turns; i++ {
			all = append(all, b.document(i))
		}
		sides := []func() error{
			func() error { return b.timed(&bare, func() error { return b.copyBare(ctx, all) }) },
			func() error { return b.timed(&ours, func() error { return ingestAll(ctx, s, all) }) },
		}
		if turn%2 == 1 {
			sides[0], sides[1] = sides[1], sides[0]
		}
		for _, side := range sides {
			if err := side(); err != nil {
				return err
			}
		}
		b.ask(all)
	}
	n := documents * perDocument
	fmt.Fprintf(b.out, "Written, one connection each, in %d turns:\n"+
		"  bare binary COPY into an equal table    %s\n"+
		"  the store through pgx, batches of %d    %s\n"+
		"  ratio %.2f (at least %.1f); of CPU time %.2f\n",
		turns, bare.of(n), ingestBatch, ours.of(n), bare.took.Seconds()/ours.took.Seconds(), leastRatio,
		bare.cpu.Seconds()/ours.cpu.Seconds())
	return nil
}

// effort is the cost of writing: wall-clock time, and CPU time of Postgres and of this process.
type effort struct{ took, cpu time.Duration }

func (e effort) of(chunks int) string {
	return fmt.Sprintf("%6.0f chunks/s (%.0f s; %.2f ms of CPU time each)", float64(chunks)/e.took.Seconds(),
		e.took.Seconds(),
		float64(e.cpu)/float64(time.Millisecond)/float64(chunks))
}

func (b *indexBench) timed(sum *effort, f func() error) error {
	before, err := b.server.cpu()
	if err != nil {
		return err
	}
	own, began := cpuTime(), time.Now()
	if err := f(); err != nil {
		return err
	}
	sum.took += time.Since(began)
	after, err := b.server.cpu()
	sum.cpu += after - before + cpuTime() - own
	return err
}

// bulkDocument is a document to write.
type bulkDocument struct {
	set, filename string
	chunks        []store.Chunk
}

// The sets: a hundredth of the rows, a tenth, one about a single topic, and the rest.
const (
	hundredth = "hundredth"
	tenth     = "tenth"
	oneTopic  = "topic"
	others    = "others"
)

// document makes the i-th document. The sets are spread over the whole.
func (b *indexBench) document(i int) bulkDocument {
	d := bulkDocument{set: others, filename: fmt.Sprintf("%d.pdf", i)}
	topic := -1
	switch {
	case i%100 == 50:
		d.set = hundredth
	case i%10 == 7:
		d.set = tenth
	case i%50 == 33:
		d.set, topic = oneTopic, 0
	}
	d.chunks = b.sample.document(topic)
	return d
}

// ask makes questions from some of the chunks.
func (b *indexBench) ask(documents []bulkDocument) {
	for range (b.queries + turns - 1) / turns {
		c := documents[b.sample.random.IntN(len(documents))].chunks[b.sample.random.IntN(perDocument)]
		b.asked = append(b.asked, b.sample.question(c))
	}
}

func ingestAll(ctx context.Context, s store.Store, documents []bulkDocument) error {
	for _, d := range documents {
		if err := ingest(ctx, s, d); err != nil {
			return err
		}
	}
	return nil
}

// ingest writes a document as the task type does, from the job's begin to its end, but without blob and model.
func ingest(ctx context.Context, s store.Store, d bulkDocument) error {
	id := uuid.NewString()
	begun, err := s.Begin(ctx, store.Begin{
		Task: store.Task{
			JobID: id, Type: "ingest", Payload: json.RawMessage(`{}`), Hints: json.RawMessage(`{}`), Fingerprint: id,
			MaxAttempts: 1,
		},
		Worker: "bench", Lease: time.Hour, Source: store.Source{Queue: "q", MessageID: id},
	})
	if err != nil {
		return err
	}
	h := store.Holder{JobID: id, Fence: begun.Fence}
	staged, err := s.StageDocument(ctx, store.Staging{
		Holder: h, DocumentSet: d.set, Filename: d.filename, Blob: d.filename,
	})
	if err != nil {
		return err
	}
	for start := 0; start < len(d.chunks); start += ingestBatch {
		batch := d.chunks[start:min(start+ingestBatch, len(d.chunks))]
		keys := make([]string, len(batch))
		for i, c := range batch {
			keys[i] = c.Key
		}
		if _, err := s.KnownChunks(ctx, keys); err != nil {
			return err
		}
		missing, err := s.StageChunks(ctx, store.ChunkBatch{
			Holder: h, DocumentID: staged.DocumentID, Version: staged.Version, Model: embedModel, Chunks: batch,
		})
		if err != nil {
			return err
		}
		if len(missing) > 0 {
			return fmt.Errorf("the store lacks %d chunks", len(missing))
		}
	}
	_, err = s.Complete(ctx, store.Completion{Holder: h, Result: json.RawMessage(`{}`), Effects: []store.Effect{{
		Kind: store.EffectActivateDocument,
		Args: store.Activation{
			DocumentID: staged.DocumentID, Version: staged.Version, Chunks: len(d.chunks), Blob: d.filename,
			Reading: store.Reading{ContentSHA256: id, Pipeline: "bench"},
		},
	}}})
	return err
}
