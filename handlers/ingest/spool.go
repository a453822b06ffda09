package ingest

import (
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/situate"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// spool holds back the chunks of a version until the document ends: the questions about their contexts have its outline,
// and what they cost is known before the first of them. Then it passes them on in windows, with the questions.
type spool struct {
	ctx    context.Context //nolint:containedctx // lives as long as one produce
	work   *work
	to     chan<- batch
	file   *chunkFile
	tokens int
	wanted int // chunks
}

func (w *work) newSpool(ctx context.Context, to chan<- batch) *spool {
	return &spool{ctx: ctx, work: w, to: to, file: newChunkFile(w.file.Dir, "version")}
}

func (s *spool) add(c chunk.Chunk) error {
	s.tokens += c.Tokens
	if s.work.contexts.wants(c.Key) {
		s.wanted++
	}
	return s.file.add(c)
}

// flush plans the questions and passes on all chunks.
func (s *spool) flush() error {
	w := s.work
	if s.wanted > 0 {
		w.contexts.planner = situate.New(w.deps.Contexts.config(), w.outline(), s.tokens)
		if err := s.plan(); err != nil {
			return err
		}
		return s.windows(func(window []chunk.Chunk) error {
			return send(s.ctx, s.to, batch{window, w.contexts.planner.Requests(w.passages(window))})
		})
	}
	out := &batcher{ctx: s.ctx, to: s.to}
	if err := s.file.each(out.add); err != nil {
		return err
	}
	return out.flush()
}

// windows passes on runs of chunks that are asked about together.
func (s *spool) windows(next func(window []chunk.Chunk) error) error {
	var window []chunk.Chunk
	cutter := s.work.contexts.planner.Cutter()
	if err := s.file.each(func(c chunk.Chunk) error {
		if cutter.Begins(c.Tokens) {
			if err := next(window); err != nil {
				return err
			}
			window = nil
		}
		window = append(window, c)
		return nil
	}); err != nil || len(window) == 0 {
		return err
	}
	return next(window)
}

// plan reads earlier answers from the store, and reports what the rest may cost before the first request. If it may be
// more than the limit, nothing is asked: the chunks go without.
func (s *spool) plan() error {
	w, l := s.work, &s.work.contexts.ledger
	limit := w.deps.Contexts.MaxTokens
	tokens, counted := 0, map[string]bool{} // keys: where a document repeats itself, windows are the same question
	if err := s.windows(func(window []chunk.Chunk) error {
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		asked := w.contexts.planner.Requests(w.passages(window))
		if err := w.recall(s.ctx, asked); err != nil {
			return err
		}
		for _, r := range asked {
			if !l.knows(r.Key) && !counted[r.Key] {
				counted[r.Key], tokens = true, tokens+r.Tokens
			}
		}
		return nil
	}); err != nil || len(counted) == 0 {
		return err
	}
	requests := len(counted)
	if spent := l.spent(); spent+tokens > limit {
		l.stop(fmt.Sprintf("they may take %d tokens in %d requests, more than CONTEXT_MAX_TOKENS allows for a document (%d)",
			spent+tokens, requests, limit))
		return nil
	}
	w.call.Progress.Report(0, fmt.Sprintf("contexts of %d chunks: %d requests to the model, at most %d tokens",
		s.wanted, requests, tokens))
	w.deps.Contexts.Log.Info("contexts are asked for", "job_id", w.call.Task.ID, "chunks", s.wanted, "requests", requests,
		"tokens_at_most", tokens)
	return w.call.Progress.Save(s.ctx)
}

// recall reads the kept answers of questions. A forced job gets only those that it paid for itself.
func (w *work) recall(ctx context.Context, asked []situate.Request) error {
	if len(asked) == 0 {
		return nil
	}
	keys := make([]string, len(asked))
	for i, r := range asked {
		keys[i] = r.Key
	}
	found, err := w.deps.Contexts.Answers.Partials(ctx, store.PartialQuery{
		JobID: w.call.Task.ID, Keys: keys, OwnOnly: w.call.Task.Hints.Force,
	})
	if err != nil {
		return fmt.Errorf("look for what the model answered before: %w", err)
	}
	for _, p := range found {
		w.contexts.ledger.recalled(p)
	}
	return nil
}
