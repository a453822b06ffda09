package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/situate"
)

// Estimate is what the ingest of a new document takes of the models, if nothing of it is known.
type Estimate struct {
	Chunks           int    `json:"chunks"`
	EmbeddingTokens  int    `json:"embedding_tokens"` // of the chunks, without their contexts
	ContextMode      string `json:"context_mode"`     // CONTEXT_MODE; the following is what model takes
	ContextRequests  int    `json:"context_requests"` // for contexts of all chunks
	ContextTokens    int    `json:"context_tokens"`   // of questions and answers, at most
	ContextMaxTokens int    `json:"context_maximum"`  // CONTEXT_MAX_TOKENS
	TooLong          bool   `json:"context_too_long"` // it would be ingested without contexts

	Warnings []string `json:"warnings,omitempty"` // about what was not read, and so is not counted
}

// Extracting is what EstimateIngest needs of extract.Router.
type Extracting interface {
	Extract(ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit) (extract.Info, error)
}

// EstimateIngest reads a document and counts what its ingest takes. It asks no model, and looks for no personal data.
func EstimateIngest(
	ctx context.Context, cfg config.Config, e Extracting, src extract.Source, limits extract.Limits,
) (Estimate, error) {
	out := Estimate{ContextMode: cfg.Contexts.Mode, ContextMaxTokens: cfg.Contexts.MaxTokens}
	collector := enrich.NewCollector()
	var chunks []chunk.Chunk
	chunker := chunk.New(chunk.Config{Counter: token.New()}, func(c chunk.Chunk) error {
		collector.Chunk(c)
		chunks = append(chunks, c)
		out.EmbeddingTokens += c.Tokens
		return nil
	})
	info, err := e.Extract(ctx, src, limits, func(b extract.Block) error {
		collector.Block(b)
		return chunker.Add(b)
	})
	if err != nil {
		return out, err
	}
	if err := chunker.Close(); err != nil {
		return out, fmt.Errorf("chunk the document: %w", err)
	}
	out.Chunks, out.Warnings = len(chunks), info.Warnings
	if unread := info.Unread(); unread != "" {
		out.Warnings = append(out.Warnings, unread)
	}
	found := collector.Finish(info)
	d := situate.Document{Title: found.Title}
	for _, h := range found.Outline.Entries {
		d.Headings = append(d.Headings, situate.Heading{Level: h.Level, Text: h.Text})
	}
	out.contexts(situate.New(contextModel(cfg), d, out.EmbeddingTokens), chunks)
	return out, nil
}

// contextModel describes the model that writes contexts.
func contextModel(cfg config.Config) situate.Config {
	model := cfg.Contexts.Model
	if model == "" {
		model = cfg.OpenAI.ChatModel
	}
	window := cfg.OpenAI.ChatContext
	if window == 0 {
		window = openai.Window(model)
	}
	return situate.Config{Model: model, Counter: token.For(model), Window: window}
}

// contexts counts the questions about all chunks. As at an ingest, equal chunks of a window share a context, and equal
// questions are asked once.
func (e *Estimate) contexts(p *situate.Planner, chunks []chunk.Chunk) {
	var window []situate.Passage
	counted := map[string]bool{} // keys of questions
	count := func() {
		for _, r := range p.Requests(window) {
			if !counted[r.Key] {
				counted[r.Key] = true
				e.ContextRequests++
				e.ContextTokens += r.Tokens
			}
		}
		window = nil
	}
	cutter := p.Cutter()
	for _, c := range chunks {
		if cutter.Begins(c.Tokens) {
			count()
		}
		again := slices.ContainsFunc(window, func(of situate.Passage) bool { return of.Key == c.Key })
		window = append(window, situate.Passage{Key: c.Key, Heading: c.HeadingPath, Text: c.Content, Wanted: !again})
	}
	count()
	e.TooLong = e.ContextTokens > e.ContextMaxTokens
}
