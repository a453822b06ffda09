package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	ingesting "github.com/seed-7227ef26/async-worker/handlers/ingest"
	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

const (
	ingestTasks   = 4                     // at a time: the default of WORKER_CONCURRENCY
	ingestModel   = 4                     // requests to the model at a time: openai.DefaultConcurrency
	ingestLatency = 80 * time.Millisecond // of one of them
	ingestInputs  = 64                    // of one of them, as ingest sends
	ingestRounds  = 5
	ingestLimit   = 1.3               // times the longer of the two parts
	ingestWidth   = 1536              // of vectors
	ingestPage    = 120 * time.Second // of OCR, the default of STEP_TIMEOUT_SEC
	ingestCorpus  = "../shared/corpus/documents"
)

// model is a stub that takes its time, and as many requests at once as the client of a real one sends.
type model struct{ slots chan struct{} }

func newModel() model { return model{make(chan struct{}, ingestModel)} }

func (model) Model() string { return "stand-in" }

func (model) Dimensions() int { return ingestWidth }

func (m model) Embed(ctx context.Context, inputs []string) (llm.Embeddings, error) {
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return llm.Embeddings{}, context.Cause(ctx)
	}
	select {
	case <-time.After(ingestLatency):
	case <-ctx.Done():
		return llm.Embeddings{}, context.Cause(ctx)
	}
	vectors := make([][]float32, len(inputs))
	for i, input := range inputs {
		r := rand.New(rand.NewPCG(uint64(len(input)), uint64(i)))
		vectors[i] = make([]float32, ingestWidth)
		for d := range vectors[i] {
			vectors[i][d] = r.Float32() - 0.5
		}
	}
	return llm.Embeddings{Vectors: vectors}, nil
}

// pipeline is what ingest is made of, and the documents.
type pipeline struct {
	router  *extract.Router
	counter *token.Counter
	model   model
	stub    string // connection string of the queues
	pg      *stack.Postgres
	folder  string // of blobs and temporary files
	files   []string
	batches [][]string // what is embedded
}

// measureIngest prints how long the corpus takes from the queue to the index, compared with its extraction alone
// and the calls of the model alone.
func measureIngest(ctx context.Context, out io.Writer) (err error) {
	p := &pipeline{counter: token.New(), model: newModel()}
	var noOCR error
	if p.router, noOCR = app.Extractors(ctx, ingestPage, nil); noOCR != nil {
		fmt.Fprintln(out, "scans are not read:", noOCR)
	}
	if p.folder, err = os.MkdirTemp("", "bench-ingest-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(p.folder)) }()
	if p.pg, err = stack.StartPostgres(ctx, stack.PostgresOptions{}); err != nil {
		return err
	}
	defer stopping(&err, p.pg.Stop)
	stub, stopStub, err := startStub(ctx)
	if err != nil {
		return err
	}
	defer stopStub()
	p.stub = stub
	if err := p.load(ctx); err != nil {
		return err
	}
	inputs := 0
	for _, b := range p.batches {
		inputs += len(b)
	}
	fmt.Fprintf(out, "\n%d documents (%d chunks in %d requests of %v), %d tasks and %d requests at a time; the aim "+
		"is %.1f times the longer part:\n",
		len(p.files), inputs, len(p.batches), ingestLatency, ingestTasks, ingestModel, ingestLimit)
	fmt.Fprintln(out, "  round   extraction   requests   from queue to index   ratio   CPU: extraction   from queue "+
		"to index   and of Postgres")
	var ratios []float64
	for round := range ingestRounds {
		ratio, err := p.round(ctx, out, round)
		if err != nil {
			return err
		}
		ratios = append(ratios, ratio)
	}
	r := median(ratios)
	fmt.Fprintf(out, "  the median ratio is %.2f\n", r)
	if r > ingestLimit {
		return fmt.Errorf("ingest takes %.2f times its longer part, more than %.1f", r, ingestLimit)
	}
	return nil
}

// load uploads the documents and records the inputs of the model for each.
func (p *pipeline) load(ctx context.Context) error {
	root, err := stack.Root()
	if err != nil {
		return err
	}
	for _, folder := range []string{ingestCorpus, "dev/samples"} {
		if p.files, err = filepath.Glob(filepath.Join(root, folder, "*.*")); err != nil || len(p.files) > 0 {
			break
		}
	}
	if err != nil {
		return err
	}
	bucket := dir.New(p.blobs())
	if err := bucket.Ensure(ctx); err != nil {
		return err
	}
	for _, file := range p.files {
		content, err := os.Open(file)
		if err != nil {
			return err
		}
		_, err = bucket.Put(ctx, filepath.Base(file), content, "")
		if err = cmp.Or(err, content.Close()); err != nil {
			return err
		}
		var texts []string
		c := chunk.New(chunk.Config{
			Counter: p.counter, Model: "stand-in", Dimensions: ingestWidth,
		}, func(c chunk.Chunk) error {
			texts = append(texts, c.Embedded)
			return nil
		})
		if err := p.extract(ctx, file, c.Add); err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
		p.batches = slices.AppendSeq(p.batches, slices.Chunk(texts, ingestInputs))
	}
	return nil
}

func (p *pipeline) blobs() string { return filepath.Join(p.folder, "blobs") }

func (p *pipeline) extract(ctx context.Context, file string, emit extract.Emit) error {
	src, err := extract.Open(file, filepath.Base(file))
	if err != nil {
		return err
	}
	if _, err = p.router.Extract(ctx, src, extract.Limits{}, emit); err != nil {
		return fmt.Errorf("extract %s: %w", filepath.Base(file), err)
	}
	return nil
}

// round measures all three once.
func (p *pipeline) round(ctx context.Context, out io.Writer, round int) (ratio float64, err error) {
	cpu, began := cpuTime()+childrenTime(), time.Now()
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(ingestTasks)
	for _, file := range p.files {
		group.Go(func() error { return p.extract(inner, file, func(extract.Block) error { return nil }) })
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	extraction, extractionCPU := time.Since(began), cpuTime()+childrenTime()-cpu

	began = time.Now()
	group, inner = errgroup.WithContext(ctx)
	group.SetLimit(ingestModel)
	for _, batch := range p.batches {
		group.Go(func() error {
			_, err := p.model.Embed(inner, batch)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	requests := time.Since(began)

	cpu = cpuTime() + childrenTime()
	whole, server, err := p.index(ctx, round)
	if err != nil {
		return 0, err
	}
	cpu = cpuTime() + childrenTime() - cpu
	ratio = whole.Seconds() / max(extraction, requests).Seconds()
	fmt.Fprintf(out, "  %5d %12v %10v %21v %7.2f %16v %20v %10v\n", round+1, ms(extraction), ms(requests), ms(whole),
		ratio, ms(extractionCPU), ms(cpu), ms(server))
	return ratio, nil
}

// index has the engine ingest all documents into a database of its own, and returns how long that took, and the CPU
// time of Postgres.
func (p *pipeline) index(ctx context.Context, round int) (took, server time.Duration, err error) {
	database := fmt.Sprint("ingest", round)
	if err := ensureDatabase(ctx, p.pg, database); err != nil {
		return 0, 0, err
	}
	if _, err := schema.Migrate(ctx, p.pg.URL(database), schema.Options{Dimensions: ingestWidth}); err != nil {
		return 0, 0, fmt.Errorf("migrate: %w", err)
	}
	db, err := postgres.Open(ctx, p.pg.URL(database), postgres.Options{
		ClientID: client, Dimensions: ingestWidth, MaxConns: postgres.PoolFor(ingestTasks),
	})
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	r, err := newRig(ctx, p.stub, db, ingestTasks)
	if err != nil {
		return 0, 0, err
	}
	r.handler = p.handler(db)
	q, err := bareQueue(p.stub, task.QueueNames(client).Normal)
	if err != nil {
		return 0, 0, err
	}
	if err := fill(ctx, q, len(p.files), func(i int) string {
		return fmt.Sprintf(`{"task_id":"ingest.%d.%d","task_type":"ingest","payload":{"filename":%q,"document_set":"corpus"}}`, round, i, filepath.Base(p.files[i]))
	}); err != nil {
		return 0, 0, err
	}
	watched, err := watchCPU(ctx, p.pg)
	if err != nil {
		return 0, 0, err
	}
	defer watched.close()
	before, err := watched.cpu()
	if err != nil {
		return 0, 0, err
	}
	f, err := r.measure(ctx, len(p.files))
	if err != nil {
		return 0, 0, err
	}
	after, err := watched.cpu()
	return f.took, after - before, err
}

func (p *pipeline) handler(documents store.Documents) *ingesting.Handler {
	return ingesting.New(ingesting.Deps{
		Bucket: dir.New(p.blobs()), Extractor: p.router, Documents: documents, Embedder: p.model, Counter: p.counter,
		Limits: extract.DefaultLimits, TempDir: p.folder,
	})
}
