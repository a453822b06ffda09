package openai

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// Probe checks whether the service makes embeddings, with one harmless word. It does not retry: the caller already
// knows of a failure.
func (e *Embedder) Probe(ctx context.Context) error {
	probe := batch{inputs: []string{"probe"}, tokens: 1}
	_, _, f := e.try(ctx, probing, probe)
	if f != nil && f.passing && e.floats.Load() { // the service has just turned out not to support base64
		_, _, f = e.try(ctx, probing, probe)
	}
	if f != nil {
		return f.err
	}
	return nil
}

// probeTokens are the tokens of an answer to a probe: the fewest that all of OpenAI's models accept.
const probeTokens = 16

// Probe checks whether the model answers, with one word and a few tokens. A refusal of the question is an answer: the
// service is up, and knows the key and the model.
func (c *Chat) Probe(ctx context.Context) error {
	q := llm.Question{Text: "Say: well", MaxTokens: probeTokens}
	a := asking{Chat: c, urgency: probing, q: q, dialect: c.dialect()}
	for {
		_, f := a.try(ctx)
		switch {
		case f == nil || f.refused:
			return nil
		case !f.adapted || ctx.Err() != nil:
			return f.err
		}
	}
}
