package openai

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// Probe asks whether the service makes embeddings, by one word, which is nobody's. It is tried once: who asks knows
// already that something has failed.
func (e *Embedder) Probe(ctx context.Context) error {
	probe := batch{inputs: []string{"probe"}, tokens: 1}
	_, _, f := e.try(ctx, probe)
	if f != nil && f.passing && e.floats.Load() { // it was found out just now that the service can't do base64
		_, _, f = e.try(ctx, probe)
	}
	if f != nil {
		return f.err
	}
	return nil
}

// Probe asks whether the model answers, by one word and for one token. A refusal is an answer.
func (c *Chat) Probe(ctx context.Context) error {
	a := asking{Chat: c, q: llm.Question{Text: "Say: well", MaxTokens: 1}, dialect: c.dialect()}
	for {
		_, f := a.try(ctx)
		switch {
		case f == nil || f.filtered:
			return nil
		case !f.adapted || ctx.Err() != nil:
			return f.err
		}
	}
}
