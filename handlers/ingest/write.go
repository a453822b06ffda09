package ingest

import (
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// write embeds the chunks without a vector, and stages a batch. The contexts are by the keys of the chunks.
func (w *work) write(ctx context.Context, batch []chunk.Chunk, contexts map[string]chunkContext) error {
	rows := make([]store.Chunk, len(batch))
	for i, c := range batch {
		rows[i] = w.row(c, contexts[c.Key])
	}
	known, err := w.knownOf(ctx, batch)
	if err != nil {
		return err
	}
	if err := w.embed(ctx, batch, rows, func(key string) bool {
		if c, ok := contexts[key]; ok { // known keys may have another context; what is not known is missing below
			return c.fresh
		}
		return !known[key]
	}); err != nil {
		return err
	}
	missing, err := w.stage(ctx, rows)
	if err != nil {
		return err
	}
	if len(missing) > 0 { // a known vector was removed in between, or is that of another context
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
	w.deps.Written(embedded(rows))
	done := w.written.Add(int64(len(rows)))
	fraction := 0.0
	if total := w.total.Load(); total > 0 {
		fraction = float64(done) / float64(total)
	}
	w.call.Progress.Report(fraction, fmt.Sprintf("%d chunks indexed", done))
	return nil
}

// knownOf returns the keys of a batch that have a vector. It queries the store only for keys that the document did not
// have before.
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
		inputs = append(inputs, situated(rows[i].Context, c.Embedded))
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

// embedded counts the rows with new vectors and those with known ones.
func embedded(rows []store.Chunk) (asked, reused int) {
	for _, r := range rows {
		if r.Embedding != nil && !r.Reused {
			asked++
		}
	}
	return asked, len(rows) - asked
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

// termsAtOnce is the number of chunks whose words are counted in one transaction: about a second of the database's time.
// A document of no more has them counted by its commit, which must not take long.
const termsAtOnce = 1000

// stageTerms counts the words of a long document's chunks before its commit, and reports whether it did.
func (w *work) stageTerms(ctx context.Context, language string) (bool, error) {
	if w.chunks <= termsAtOnce {
		return false, nil
	}
	for from := 0; from < w.chunks; from += termsAtOnce {
		err := w.deps.Documents.StageTerms(ctx, store.TermsPart{
			Holder: w.call.Holder, DocumentID: w.staged.DocumentID, Version: w.staged.Version, Language: language,
			From: from, Limit: termsAtOnce,
		})
		if err != nil {
			return false, fmt.Errorf("count the words of chunks: %w", err)
		}
		done := min(from+termsAtOnce, w.chunks)
		w.call.Progress.Report(float64(done)/float64(w.chunks), fmt.Sprintf("the words of %d chunks counted", done))
	}
	return true, nil
}

// situated is the text for the model of embeddings.
func situated(context, text string) string {
	if context == "" {
		return text
	}
	return context + "\n\n" + text
}

func (w *work) row(c chunk.Chunk, context chunkContext) store.Chunk {
	boxes := make([]store.Box, len(c.Boxes))
	for i, b := range c.Boxes {
		boxes[i] = store.Box{Page: b.Page, Left: b.Left, Top: b.Top, Right: b.Right, Bottom: b.Bottom}
	}
	if context.Text != "" {
		c.Tokens += w.deps.Counter.Count(context.Text)
	}
	return store.Chunk{
		Position: c.Position, Content: c.Content, HeadingPath: c.HeadingPath, Pages: c.Pages,
		Kind: c.Kind, Tokens: c.Tokens, Key: c.Key, Boxes: boxes, Language: c.Language,
		Context: context.Text, ContextBy: context.By,
	}
}
