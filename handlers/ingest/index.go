package ingest

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/situate"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// batchChunks and writers limit the memory of one task: this many chunks with their vectors for each writer, and as
// many waiting.
const (
	batchChunks = 64
	writers     = 3
)

// work is one attempt to ingest a document.
type work struct {
	*Handler
	call     handlers.Call
	payload  Payload
	notes    *handlers.Notes
	file     *source.File
	source   extract.Source
	staged   store.StagedVersion
	pipeline string
	title    string // the sender's, which is embedded; see payload.title

	known    map[string]bool // keys that the tenant certainly has: of the active version, or staged before
	contexts contexts
	held     *heldChunks // nil: nothing to compare with
	text     textSum
	enrich   *enrichment
	info     extract.Info
	chunks   int         // made so far; used by the producer only
	sameText bool        // the new version would equal the active one
	asked    atomic.Bool // whether the model was asked
	written  atomic.Int64
	total    atomic.Int64 // of chunks; zero until the document is parsed
}

// pipelineID names everything that decides what is indexed, except the bytes.
func (w *work) pipelineID(f extract.Format) string { return w.deps.Extractor.Version(f) + w.settings() }

// settingsBegin follows the extractor in a pipelineID.
const settingsBegin = " chunk@"

// settings are what decides beside the extractor.
func (w *work) settings() string {
	return fmt.Sprintf("%s%d enrich@%d privacy=%s %s/%d title=%s", settingsBegin, chunk.Version, enrich.Version,
		w.deps.Privacy.Version(), w.deps.Embedder.Model(), w.deps.Embedder.Dimensions(), w.title)
}

// index streams the document through extraction, chunking, embedding and staging. They overlap: the first chunks are
// staged before the last page is read. The stage is that of the slowest unfinished part.
func (w *work) index(ctx context.Context) error {
	if err := w.call.Progress.Stage(stageParsing); err != nil {
		return err
	}
	if err := w.compare(ctx); err != nil {
		return err
	}
	if w.held != nil {
		defer w.held.close()
	}
	task := ctx // what a model is asked is paid for: its answer is kept even if another writer fails
	group, ctx := errgroup.WithContext(ctx)
	batches := make(chan batch, writers)
	group.Go(handlers.Safely(func() error {
		defer close(batches)
		return w.produce(ctx, batches)
	}))
	for range writers {
		group.Go(handlers.Safely(func() error {
			for b := range batches {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				contexts, err := w.contextsOf(task, b)
				if err == nil {
					err = w.write(task, b.chunks, contexts)
				}
				if err != nil {
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

// compare loads the version to compare with.
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
		w.held = &heldChunks{chunkFile: newChunkFile(w.file.Dir, "chunks"), keys: keys}
	}
	return w.loadContexts(ctx, keys)
}

// produce extracts and chunks, and passes on full batches.
func (w *work) produce(ctx context.Context, batches chan<- batch) error {
	var out taker = &batcher{ctx: ctx, to: batches}
	if w.deps.Contexts != nil { // the questions need the whole document
		s := w.newSpool(ctx, batches)
		defer s.file.close()
		out = s
	}
	chunker := chunk.New(chunk.Config{
		Title: w.title, Counter: w.deps.Counter, Model: w.deps.Embedder.Model(),
		Dimensions: w.deps.Embedder.Dimensions(),
	}, func(c chunk.Chunk) error {
		if ctx.Err() != nil { // a single block may have thousands of chunks
			return context.Cause(ctx)
		}
		w.chunks++
		c = w.enrich.chunk(c)
		w.text.text(c.Language) // the row has it, too
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
	if w.held != nil {
		if w.held.whole() && w.text.sum() == w.staged.Active.TextSHA256 {
			w.sameText = true
			return nil
		}
		if err := w.held.each(out.add); err != nil { // fewer chunks, or the same ones in other places
			return err
		}
	}
	w.total.Store(int64(w.chunks))
	if err := w.call.Progress.Stage(stageEmbedding); err != nil {
		return err
	}
	return out.flush()
}

// pass passes on a chunk, unless all chunks so far equal those of the active version.
func (w *work) pass(c chunk.Chunk, out taker) error {
	if w.held != nil {
		if held, err := w.held.take(c); held || err != nil {
			return err
		}
		all := w.held
		w.held = nil
		defer all.close()
		if err := all.each(out.add); err != nil {
			return err
		}
	}
	return out.add(c)
}

// taker takes the chunks of a version that is written.
type taker interface {
	add(c chunk.Chunk) error
	flush() error // after the last one
}

// batch is written at once.
type batch struct {
	chunks   []chunk.Chunk
	requests []situate.Request // for contexts of some of the chunks
}

// batcher collects chunks into batches.
type batcher struct {
	ctx   context.Context //nolint:containedctx // lives as long as one produce
	to    chan<- batch
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
	all := batch{chunks: b.batch}
	b.batch = nil
	return send(b.ctx, b.to, all)
}

func send(ctx context.Context, to chan<- batch, b batch) error {
	select {
	case to <- b:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (w *work) parse(ctx context.Context, chunker *chunk.Chunker) error {
	pages := handlers.NewPageProgress(w.call.Progress)
	w.source.Pages = pages.Total
	w.enrich = attach(w.deps.Privacy, func(b extract.Block) error {
		w.text.add(b)
		return chunker.Add(b)
	})
	info, err := w.deps.Extractor.Extract(ctx, w.source, w.deps.Limits, func(b extract.Block) error {
		pages.Page(b.Page)
		return w.enrich.block(ctx, b)
	})
	if err != nil {
		return err
	}
	pages.End(info.Pages)
	if err := w.call.Progress.Stage(stageEnriching); err != nil {
		return err
	}
	w.info, err = w.enrich.end(ctx, info)
	return err
}
