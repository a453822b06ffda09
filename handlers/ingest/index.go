package ingest

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// batchChunks and writers bound what one task holds in memory: so many chunks with their vectors for
// each writer, and as many waiting.
const (
	batchChunks = 64
	writers     = 3
)

// work is one document on its way into the index.
type work struct {
	*Handler
	call     handlers.Call
	payload  payload
	file     *source.File
	source   extract.Source
	staged   store.Staged
	pipeline string

	info     extract.Info
	chunks   int // cut so far; the producer's
	embedded atomic.Int64
	reused   atomic.Int64
	written  atomic.Int64
	total    atomic.Int64 // of chunks; zero until the document is parsed
}

// pipelineID names everything that, besides the bytes, decides what is indexed.
func (w *work) pipelineID(f extract.Format) string {
	return fmt.Sprintf("%s chunk@%d %s/%d title=%s", w.deps.Extractor.Version(f), chunk.Version,
		w.deps.Embedder.Model(), w.deps.Embedder.Dimensions(), w.title())
}

// title goes into what is embedded. Only one that the sender gave counts: a title found in the
// document is a heading already, and a file's name would make the same text in two files two chunks.
func (w *work) title() string {
	title, _ := w.payload.Metadata["title"].(string)
	return title
}

// unchanged says whether the active version was made of the same bytes in the same way.
func (w *work) unchanged() bool {
	a := w.staged.Active
	return a != nil && !w.call.Task.Hints.Force && a.ContentSHA256 == w.file.SHA256 && a.Pipeline == w.pipeline
}

// index streams the document through extraction, chunking, embedding and staging. They overlap: the
// first chunks are staged before the last page is read. The stages name the slowest part that is not
// finished.
func (w *work) index(ctx context.Context) error {
	if err := w.call.Progress.Stage(stageParsing); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	batches := make(chan []chunk.Chunk, writers)
	group.Go(safely(func() error {
		defer close(batches)
		return w.produce(ctx, batches)
	}))
	for range writers {
		group.Go(safely(func() error {
			for batch := range batches {
				if err := w.write(ctx, batch); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return w.call.Progress.Stage(stageIndexing)
}

// safely makes a panic of a goroutine of ours an error: the engine recovers only what runs in its own.
func safely(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &job.Error{
					Class: job.InternalBug, Message: "the worker met a bug in itself; its log has the details",
					Cause: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
				}
			}
		}()
		return f()
	}
}

// produce extracts and chunks, and hands on full batches.
func (w *work) produce(ctx context.Context, batches chan<- []chunk.Chunk) error {
	var batch []chunk.Chunk
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		select {
		case batches <- batch:
			batch = nil
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	chunker := chunk.New(chunk.Config{
		Title: w.title(), Counter: w.deps.Counter, Model: w.deps.Embedder.Model(), Dimensions: w.deps.Embedder.Dimensions(),
	}, func(c chunk.Chunk) error {
		if ctx.Err() != nil { // a single block may have thousands of chunks
			return context.Cause(ctx)
		}
		w.chunks++
		if batch = append(batch, c); len(batch) < batchChunks {
			return nil
		}
		return flush()
	})
	if err := w.parse(ctx, chunker); err != nil {
		return err
	}
	if err := w.call.Progress.Stage(stageChunking); err != nil {
		return err
	}
	if err := chunker.Close(); err != nil {
		return fmt.Errorf("chunk the document: %w", err)
	}
	if err := flush(); err != nil {
		return err
	}
	w.total.Store(int64(w.chunks))
	return w.call.Progress.Stage(stageEmbedding)
}

func (w *work) parse(ctx context.Context, chunker *chunk.Chunker) error {
	lastPage := 0
	info, err := w.deps.Extractor.Extract(ctx, w.source, w.deps.Limits, func(b extract.Block) error {
		if b.Page > lastPage {
			lastPage = b.Page
			w.call.Progress.Within(pageFraction(lastPage), fmt.Sprintf("page %d", lastPage))
		}
		return chunker.Add(b)
	})
	if err != nil {
		return err
	}
	w.info = info
	return w.call.Progress.Stage(stageEnriching)
}

// pageFraction moves the progress on with every page although the number of pages is not known yet:
// half of what remains every 20 pages.
func pageFraction(page int) float64 { return 1 - 1/(1+float64(page)/20) }

// write embeds what the tenant has no vector for, and stages a batch.
func (w *work) write(ctx context.Context, batch []chunk.Chunk) error {
	rows, keys := make([]store.Chunk, len(batch)), make([]string, len(batch))
	for i, c := range batch {
		rows[i], keys[i] = row(c), c.Key
	}
	known, err := w.deps.Documents.KnownChunks(ctx, keys)
	if err != nil {
		return fmt.Errorf("look for known chunks: %w", err)
	}
	embedded, err := w.embed(ctx, batch, rows, func(key string) bool { return !known[key] })
	if err != nil {
		return err
	}
	missing, err := w.stage(ctx, rows)
	if err != nil {
		return err
	}
	if len(missing) > 0 { // a known vector went away in between
		again := make(map[string]bool, len(missing))
		for _, key := range missing {
			again[key] = true
		}
		more, err := w.embed(ctx, batch, rows, func(key string) bool { return again[key] })
		if err != nil {
			return err
		}
		embedded += more
		if missing, err = w.stage(ctx, rows); err != nil {
			return err
		}
		if len(missing) > 0 {
			return fmt.Errorf("the store did not take %d chunks that were sent with their vectors", len(missing))
		}
	}
	w.embedded.Add(int64(embedded))
	w.reused.Add(int64(len(rows) - embedded))
	done := w.written.Add(int64(len(rows)))
	fraction := 0.0
	if total := w.total.Load(); total > 0 {
		fraction = float64(done) / float64(total)
	}
	w.call.Progress.Within(fraction, fmt.Sprintf("%d chunks indexed", done))
	return nil
}

// embed fills in the vectors of the wanted rows; equal texts are embedded once.
func (w *work) embed(ctx context.Context, batch []chunk.Chunk, rows []store.Chunk, wanted func(key string) bool) (int, error) {
	var inputs []string
	first := map[string]int{} // index into inputs by key
	for i, c := range batch {
		if _, twice := first[c.Key]; twice || !wanted(c.Key) || rows[i].Embedding != nil {
			continue
		}
		first[c.Key] = len(inputs)
		inputs = append(inputs, c.Embedded)
	}
	if len(inputs) == 0 {
		return 0, nil
	}
	answer, err := w.deps.Embedder.Embed(ctx, inputs)
	if err != nil {
		return 0, fmt.Errorf("embed: %w", err)
	}
	for i, c := range batch {
		if at, ok := first[c.Key]; ok {
			rows[i].Embedding = answer.Vectors[at]
		}
	}
	return len(inputs), nil
}

func (w *work) stage(ctx context.Context, rows []store.Chunk) ([]string, error) {
	missing, err := w.deps.Documents.StageChunks(ctx, store.ChunkBatch{
		Holder: w.call.Holder, DocumentID: w.staged.DocumentID, Version: w.staged.Version,
		Model: w.deps.Embedder.Model(), Chunks: rows,
	})
	if err != nil {
		return nil, fmt.Errorf("stage chunks: %w", err)
	}
	return missing, nil
}

func row(c chunk.Chunk) store.Chunk {
	boxes := make([]store.Box, len(c.Boxes))
	for i, b := range c.Boxes {
		boxes[i] = store.Box{Page: b.Page, Left: b.Left, Top: b.Top, Right: b.Right, Bottom: b.Bottom}
	}
	return store.Chunk{
		Position: c.Position, Content: c.Content, HeadingPath: c.HeadingPath, Pages: c.Pages,
		Kind: c.Kind, Tokens: c.Tokens, Key: c.Key, Boxes: boxes,
	}
}
