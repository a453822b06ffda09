package ingest

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/enrich"
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
	title    string // of the payload, as it goes into what is embedded; see payload.title

	known    map[string]bool // keys that the tenant has for certain: of the active version, and staged before
	alike    *alike          // nil: there is nothing to compare with
	text     textSum
	enrich   *enrichment
	info     extract.Info
	chunks   int         // cut so far; the producer's
	sameText bool        // the active version would be made again
	asked    atomic.Bool // the model was
	written  atomic.Int64
	total    atomic.Int64 // of chunks; zero until the document is parsed
}

// pipelineID names everything that, besides the bytes, decides what is indexed.
func (w *work) pipelineID(f extract.Format) string {
	return fmt.Sprintf("%s chunk@%d enrich@%d privacy=%s %s/%d title=%s", w.deps.Extractor.Version(f), chunk.Version,
		enrich.Version, w.deps.Privacy.Version(), w.deps.Embedder.Model(), w.deps.Embedder.Dimensions(), w.title)
}

// index streams the document through extraction, chunking, embedding and staging. They overlap: the
// first chunks are staged before the last page is read. The stages name the slowest part that is not
// finished.
func (w *work) index(ctx context.Context) error {
	if err := w.call.Progress.Stage(stageParsing); err != nil {
		return err
	}
	if err := w.compare(ctx); err != nil {
		return err
	}
	if w.alike != nil {
		defer w.alike.close()
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

// compare gets what the new version is compared with.
func (w *work) compare(ctx context.Context) error {
	w.text, w.known = newTextSum(), make(map[string]bool)
	for _, key := range w.staged.StagedKeys {
		w.known[key] = true
	}
	if w.staged.Active == nil {
		return nil
	}
	keys, err := w.deps.Documents.VersionKeys(ctx, w.staged.DocumentID, w.staged.Active.Version)
	if err != nil {
		return fmt.Errorf("look at the active version: %w", err)
	}
	for _, key := range keys {
		w.known[key] = true
	}
	if a := w.active(); a != nil && a.TextSHA256 != "" {
		w.alike = &alike{keys: keys}
	}
	return nil
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
	out := &batcher{ctx: ctx, to: batches}
	chunker := chunk.New(chunk.Config{
		Title: w.title, Counter: w.deps.Counter, Model: w.deps.Embedder.Model(), Dimensions: w.deps.Embedder.Dimensions(),
	}, func(c chunk.Chunk) error {
		if ctx.Err() != nil { // a single block may have thousands of chunks
			return context.Cause(ctx)
		}
		w.chunks++
		c = w.enrich.chunk(c)
		w.text.text(c.Language) // it is in the row as well
		return w.pass(c, out)
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
	if w.alike != nil {
		if w.alike.whole() && w.text.sum() == w.staged.Active.TextSHA256 {
			w.sameText = true
			return nil
		}
		if err := w.alike.release(out.add); err != nil { // fewer chunks, or the same ones at other places
			return err
		}
	}
	if err := out.flush(); err != nil {
		return err
	}
	w.total.Store(int64(w.chunks))
	return w.call.Progress.Stage(stageEmbedding)
}

// pass hands a chunk on, unless all up to it are those of the active version.
func (w *work) pass(c chunk.Chunk, out *batcher) error {
	if w.alike != nil {
		if held, err := w.alike.take(c, w.file.Dir); held || err != nil {
			return err
		}
		all := w.alike
		w.alike = nil
		defer all.close()
		if err := all.release(out.add); err != nil {
			return err
		}
	}
	return out.add(c)
}

// batcher gathers chunks into batches.
type batcher struct {
	ctx   context.Context //nolint:containedctx // lives as long as one produce
	to    chan<- []chunk.Chunk
	batch []chunk.Chunk
}

func (b *batcher) add(c chunk.Chunk) error {
	if b.batch = append(b.batch, c); len(b.batch) < batchChunks {
		return nil
	}
	return b.flush()
}

func (b *batcher) flush() error {
	if len(b.batch) == 0 {
		return nil
	}
	select {
	case b.to <- b.batch:
		b.batch = nil
		return nil
	case <-b.ctx.Done():
		return context.Cause(b.ctx)
	}
}

func (w *work) parse(ctx context.Context, chunker *chunk.Chunker) error {
	lastPage := 0
	w.enrich = attach(w.deps.Privacy, func(b extract.Block) error {
		w.text.add(b)
		return chunker.Add(b)
	})
	info, err := w.deps.Extractor.Extract(ctx, w.source, w.deps.Limits, func(b extract.Block) error {
		if b.Page > lastPage {
			lastPage = b.Page
			w.call.Progress.Within(pageFraction(lastPage), fmt.Sprintf("page %d", lastPage))
		}
		return w.enrich.block(ctx, b)
	})
	if err != nil {
		return err
	}
	if err := w.call.Progress.Stage(stageEnriching); err != nil {
		return err
	}
	w.info, err = w.enrich.end(ctx, info)
	return err
}

// pageFraction moves the progress on with every page although the number of pages is not known yet:
// half of what remains every 20 pages.
func pageFraction(page int) float64 { return 1 - 1/(1+float64(page)/20) }

// write embeds what the tenant has no vector for, and stages a batch.
func (w *work) write(ctx context.Context, batch []chunk.Chunk) error {
	rows := make([]store.Chunk, len(batch))
	for i, c := range batch {
		rows[i] = row(c)
	}
	known, err := w.knownOf(ctx, batch)
	if err != nil {
		return err
	}
	if err := w.embed(ctx, batch, rows, func(key string) bool { return !known[key] }); err != nil {
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
		if err := w.embed(ctx, batch, rows, func(key string) bool { return again[key] }); err != nil {
			return err
		}
		if missing, err = w.stage(ctx, rows); err != nil {
			return err
		}
		if len(missing) > 0 {
			return fmt.Errorf("the store did not take %d chunks that were sent with their vectors", len(missing))
		}
	}
	done := w.written.Add(int64(len(rows)))
	fraction := 0.0
	if total := w.total.Load(); total > 0 {
		fraction = float64(done) / float64(total)
	}
	w.call.Progress.Within(fraction, fmt.Sprintf("%d chunks indexed", done))
	return nil
}

// knownOf returns which keys of a batch the tenant has a vector for. The store is asked only about those that
// the document did not have before.
func (w *work) knownOf(ctx context.Context, batch []chunk.Chunk) (map[string]bool, error) {
	var ask []string
	for _, c := range batch {
		if !w.known[c.Key] {
			ask = append(ask, c.Key)
		}
	}
	if len(ask) == 0 {
		return w.known, nil
	}
	found, err := w.deps.Documents.KnownChunks(ctx, ask)
	if err != nil {
		return nil, fmt.Errorf("look for known chunks: %w", err)
	}
	for _, c := range batch {
		if w.known[c.Key] {
			found[c.Key] = true
		}
	}
	return found, nil
}

// embed fills in the vectors of the wanted rows; equal texts are embedded once.
func (w *work) embed(ctx context.Context, batch []chunk.Chunk, rows []store.Chunk, wanted func(key string) bool) error {
	var inputs []string
	first := map[string]int{} // index into inputs by key
	for i, c := range batch {
		if !wanted(c.Key) || rows[i].Embedding != nil {
			continue
		}
		if _, rows[i].Reused = first[c.Key]; rows[i].Reused {
			continue
		}
		first[c.Key] = len(inputs)
		inputs = append(inputs, c.Embedded)
	}
	if len(inputs) == 0 {
		return nil
	}
	w.asked.Store(true)
	answer, err := w.deps.Embedder.Embed(ctx, inputs)
	if err != nil {
		return fmt.Errorf("embed: %w", err)
	}
	for i, c := range batch {
		if at, ok := first[c.Key]; ok {
			rows[i].Embedding = answer.Vectors[at]
		}
	}
	return nil
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
		Kind: c.Kind, Tokens: c.Tokens, Key: c.Key, Boxes: boxes, Language: c.Language,
	}
}
