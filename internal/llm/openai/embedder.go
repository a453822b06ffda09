package openai

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// The bounds of one request; the service's own limits are 2048 inputs and 300,000 tokens.
const (
	maxInputs = 256
	maxTokens = 100_000
)

// Embedder requests vectors from an OpenAI-compatible service. It is safe for concurrent use.
type Embedder struct {
	service
	dimensions     int
	sendDimensions bool // only the text-embedding-3 models take the parameter
	concurrency    int
	counter        llm.Counter

	*learnt
}

// learnt is what the service's responses have shown. Embedders of one service share it.
type learnt struct {
	floats   atomic.Bool // the service does not support base64
	answered atomic.Bool // the service has succeeded at least once
}

// batch is a run of inputs for one request.
type batch struct {
	start  int // index of its first input
	inputs []string
	tokens int
}

// Questions returns the embedder of questions of searches, for which somebody waits. It is e, but its requests precede those
// of e, which are of documents.
func (e *Embedder) Questions() *Embedder {
	questions := *e
	questions.urgency = Question
	return &questions
}

// Model implements llm.Embedder.
func (e *Embedder) Model() string { return e.model }

// Dimensions implements llm.Embedder.
func (e *Embedder) Dimensions() int { return e.dimensions }

// Embed implements llm.Embedder. The classes of its errors:
//
//   - validation_error, with an *InputError as cause: the service rejects this one input
//   - quota_exceeded: the account has no credit left
//   - ai_rate_limit, with RetryAfter if the service gave it; model_overloaded; network_timeout
//   - dependency_unavailable: the service can't be reached, its response is invalid, or it rejects the key, the
//     model or the vectors' length. The latter are faults of the configuration, not of the task: retries and a
//     replay give an operator the time to fix the setting.
//
// When ctx ends the error wraps its cause. With an error, too, Tokens are those of the requests that succeeded.
func (e *Embedder) Embed(ctx context.Context, inputs []string) (llm.Embeddings, error) {
	batches, err := e.batches(inputs)
	if err != nil {
		return llm.Embeddings{}, err
	}
	vectors := make([][]float32, len(inputs))
	var billed atomic.Int64
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(e.concurrency)
	for _, b := range batches {
		group.Go(func() error {
			tokens, err := e.embed(inner, b, vectors[b.start:b.start+len(b.inputs)])
			billed.Add(int64(tokens))
			return err
		})
	}
	err = group.Wait()
	tokens := int(billed.Load())
	switch {
	case err == nil:
		return llm.Embeddings{Vectors: vectors, Tokens: tokens}, nil
	case ctx.Err() != nil:
		return llm.Embeddings{Tokens: tokens}, fmt.Errorf("embed: %w", context.Cause(ctx))
	}
	return llm.Embeddings{Tokens: tokens}, taskerr.Blame(taskerr.Model, err)
}

func (e *Embedder) batches(inputs []string) ([]batch, error) {
	var batches []batch
	var current batch
	for i, input := range inputs {
		if input == "" {
			return nil, taskerr.Errorf(taskerr.InternalBug, "embed: input %d of %d is empty", i, len(inputs))
		}
		tokens := e.counter.Count(input)
		if n := len(current.inputs); n == maxInputs || n > 0 && current.tokens+tokens > maxTokens {
			batches = append(batches, current)
			current = batch{start: i}
		}
		current.inputs = inputs[current.start : i+1]
		current.tokens += tokens
	}
	if len(current.inputs) > 0 {
		batches = append(batches, current)
	}
	return batches, nil
}

// embed fills in the vectors of b. If the service rejects the batch, it is halved until the halves are accepted (the
// batch was too large) or the one bad input is found.
func (e *Embedder) embed(ctx context.Context, b batch, vectors [][]float32) (billed int, err error) {
	a, failure := e.send(ctx, b)
	switch {
	case failure == nil:
		copy(vectors, a.vectors)
		return a.tokens, nil
	case !failure.refused:
		return 0, failure.err
	case len(b.inputs) == 1:
		return e.blame(ctx, b, failure)
	}
	half := len(b.inputs) / 2
	left := batch{start: b.start, inputs: b.inputs[:half], tokens: b.tokens / 2}
	right := batch{start: b.start + half, inputs: b.inputs[half:], tokens: b.tokens / 2}
	billed, err = e.embed(ctx, left, vectors[:half])
	if err != nil {
		return billed, err
	}
	more, err := e.embed(ctx, right, vectors[half:])
	return billed + more, err
}

// blame returns the error for a single rejected input. Until a request has succeeded the cause may as well be the
// configuration: a harmless input shows which.
func (e *Embedder) blame(ctx context.Context, b batch, refusal *failure) (billed int, err error) {
	if !e.answered.Load() {
		a, failure := e.send(ctx, batch{inputs: []string{"test"}, tokens: 1})
		switch {
		case failure == nil:
			billed = a.tokens
		case failure.refused:
			return 0, taskerr.Errorf(taskerr.DependencyUnavailable,
				"the embedding service refuses every request (%s); check %s, %s and EMBEDDING_DIMENSIONS",
				failure.detail, e.names.url, e.names.model)
		default:
			return 0, failure.err
		}
	}
	return billed, &taskerr.Error{
		Class:   taskerr.ValidationError,
		Message: fmt.Sprintf("the embedding service refuses input %d (%s)", b.start, refusal.detail),
		Cause:   &InputError{Index: b.start},
	}
}

// InputError names the input that the service rejects.
type InputError struct {
	Index int // in the inputs of Embed
}

func (e *InputError) Error() string { return fmt.Sprintf("input %d is refused", e.Index) }
