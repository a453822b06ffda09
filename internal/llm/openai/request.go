package openai

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"time"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// answer is a checked response to one request.
type answer struct {
	vectors [][]float32 // of unit length, in the order of the inputs
	tokens  int         // as billed
}

// send requests the vectors of one batch.
func (e *Embedder) send(ctx context.Context, b batch) (a answer, f *failure) {
	f = e.persist(ctx, func() (took time.Duration, f *failure) {
		took, a, f = e.try(ctx, e.urgency, b)
		return took, f
	})
	return a, f
}

// try makes one request.
func (e *Embedder) try(ctx context.Context, u Urgency, b batch) (took time.Duration, a answer, f *failure) {
	took, f = e.once(ctx, u, b.tokens, false, func(ctx context.Context) error {
		response, err := e.client.CreateEmbeddings(ctx, e.request(b.inputs))
		if err != nil {
			return e.noBase64(err)
		}
		vectors, f := e.check(response, len(b.inputs))
		if f != nil {
			return f
		}
		e.answered.Store(true)
		a = answer{vectors: vectors, tokens: response.Usage.TotalTokens}
		if !plausible(a.tokens) {
			a.tokens = b.tokens
		}
		return nil
	})
	return took, a, f
}

// noBase64 detects a service that sends numbers although base64 was requested, and requests numbers from now on.
func (e *Embedder) noBase64(err error) error {
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && mismatch.Value == "array" {
		e.floats.Store(true)
		return &failure{
			passing: true, err: taskerr.Errorf(taskerr.DependencyUnavailable,
				"%s sent its vectors as numbers, not in base64; numbers are requested from now on", e.names.what),
		}
	}
	return err
}

func (e *Embedder) request(inputs []string) api.EmbeddingRequestStrings {
	r := api.EmbeddingRequestStrings{Input: inputs, Model: api.EmbeddingModel(e.model)}
	if !e.floats.Load() {
		r.EncodingFormat = api.EmbeddingEncodingFormatBase64 // a quarter of the bytes of decimal numbers
	}
	if e.sendDimensions {
		r.Dimensions = e.dimensions
	}
	return r
}

// check orders the results like the inputs and normalizes them.
func (e *Embedder) check(r api.EmbeddingResponse, inputs int) ([][]float32, *failure) {
	if len(r.Data) != inputs {
		return nil, e.nonsense("%d vectors for %d inputs", len(r.Data), inputs)
	}
	vectors := make([][]float32, inputs)
	for _, d := range r.Data {
		if d.Index < 0 || d.Index >= inputs || vectors[d.Index] != nil {
			return nil, e.nonsense("no vector, or more than one, for some input")
		}
		if len(d.Embedding) != e.dimensions {
			return nil, e.wrongLength(len(d.Embedding))
		}
		if err := normalize(d.Embedding); err != nil {
			return nil, e.nonsense("a vector that %w", err)
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}

// normalize scales v in place to length 1.
func normalize(v []float32) error {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if math.IsNaN(square) || math.IsInf(square, 0) {
		return errors.New("is not of finite numbers")
	}
	if square == 0 {
		return errors.New("is zero")
	}
	scale := 1 / math.Sqrt(square)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return nil
}
