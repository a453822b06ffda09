package ingest

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/situate"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Contexts is what CONTEXT_MODE=model needs. All is required.
type Contexts struct {
	Chat      llm.Chat
	Window    int            // Chat's context in tokens, question and answer together
	Counter   llm.Counter    // of Chat's tokens
	MaxTokens int            // of the questions and answers about one document, in all attempts
	Answers   store.Partials // what the model answered before
	Log       *slog.Logger
}

// chunkContext is the context of a chunk.
type chunkContext struct {
	store.ChunkContext
	fresh bool // the model wrote it in this attempt: there is no vector yet
}

// contexts are those of a document's chunks. A chunk that the active version has keeps its context, or stays without one,
// whatever the settings are now: only what is new to the document is paid for. hints.force asks for those that are
// missing or by another model, and without Deps.Contexts drops all.
type contexts struct {
	had     map[string]bool               // keys of the active version's chunks, unless the task is forced
	kept    map[string]store.ChunkContext // by key
	planner *situate.Planner              // nil: none is asked for
	ledger  contextLedger
}

// loadContexts loads the contexts of the active version, which has these keys.
func (w *work) loadContexts(ctx context.Context, keys []string) error {
	force := w.call.Task.Hints.Force
	if !force {
		w.contexts.had = make(map[string]bool, len(keys))
		for _, key := range keys {
			w.contexts.had[key] = true
		}
	}
	if w.staged.Active.Contexts == 0 || force && w.deps.Contexts == nil {
		return nil
	}
	var err error
	w.contexts.kept, err = w.deps.Documents.VersionContexts(ctx, w.staged.DocumentID, w.staged.Active.Version)
	if err != nil {
		return fmt.Errorf("look at the contexts of the active version: %w", err)
	}
	if force {
		by := w.deps.Contexts.by()
		for key, c := range w.contexts.kept {
			if c.By != by {
				delete(w.contexts.kept, key)
			}
		}
	}
	return nil
}

func (c *Contexts) config() situate.Config {
	return situate.Config{Model: c.Chat.Model(), Counter: c.Counter, Window: c.Window}
}

func (c *Contexts) by() string { return situate.By(c.Chat.Model()) }

// wants reports whether the model is to be asked for the context of a chunk.
func (c *contexts) wants(key string) bool {
	_, kept := c.kept[key]
	return !kept && !c.had[key]
}

// contextsOf returns the contexts of a batch by the keys of its chunks. It asks the model for new ones.
func (w *work) contextsOf(ctx context.Context, b batch) (map[string]chunkContext, error) {
	found := map[string]chunkContext{}
	for _, c := range b.chunks {
		if kept, ok := w.contexts.kept[c.Key]; ok {
			found[c.Key] = chunkContext{ChunkContext: kept}
		}
	}
	for _, r := range b.requests {
		texts, fresh, err := w.answer(ctx, r)
		if err != nil {
			return nil, err
		}
		for key, text := range texts {
			found[key] = chunkContext{store.ChunkContext{Text: text, By: w.contexts.planner.By()}, fresh}
		}
	}
	return found, nil
}

// outline is what the questions say of the document.
func (w *work) outline() situate.Document {
	found := w.enrich.finish(w.info)
	d := situate.Document{Title: w.title}
	if d.Title == "" {
		d.Title = found.Title
	}
	for _, h := range found.Outline {
		d.Headings = append(d.Headings, situate.Heading{Level: h.Level, Text: h.Text})
	}
	return d
}

// passages are the chunks of a window. Equal chunks of a window share a context.
func (w *work) passages(window []chunk.Chunk) []situate.Passage {
	all := make([]situate.Passage, len(window))
	seen := map[string]bool{}
	for i, c := range window {
		all[i] = situate.Passage{
			Key: c.Key, Heading: c.HeadingPath, Text: c.Content, Wanted: w.contexts.wants(c.Key) && !seen[c.Key],
		}
		seen[c.Key] = true
	}
	return all
}
