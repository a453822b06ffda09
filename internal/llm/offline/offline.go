// Package offline makes embeddings without a network or a model: lexical feature hashing. A text becomes a bag of
// words, pairs of neighbouring words and pieces of words; each is hashed to a dimension and a sign, so that texts that
// share words are near each other. It knows no synonyms: it is for trials, for tests and for machines without a key.
//
// Source: Weinberger, Dasgupta, Langford, Smola, Attenberg: "Feature Hashing for Large Scale
// Multitask Learning", ICML 2009 (signed hashing, whose inner products are unbiased).
//
// A text's vector depends on it alone: on no collection and no language. The rarity of words in a collection is on the side
// of the question (Embedder.Question), so that a document that comes or goes changes no other one's vector. Stems by language
// and more dimensions make vectors alone better, but not the search, whose BM25 has them: see docs/decisions.md.
package offline

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Model identifies the embeddings. Its number increases when the vector of the same text changes.
const Model = "offline-hash-1"

// Embedder hashes texts. It is safe for concurrent use, and deterministic on every machine.
type Embedder struct {
	dimensions int
}

// New returns an Embedder of vectors of this length, at least 1. Below a few hundred dimensions unrelated words collide
// often.
func New(dimensions int) (*Embedder, error) {
	if dimensions < 1 {
		return nil, fmt.Errorf("offline embeddings: %d dimensions; EMBEDDING_DIMENSIONS must be at least 1", dimensions)
	}
	return &Embedder{dimensions: dimensions}, nil
}

// Model implements llm.Embedder.
func (e *Embedder) Model() string { return Model }

// Dimensions implements llm.Embedder.
func (e *Embedder) Dimensions() int { return e.dimensions }

// Embed implements llm.Embedder. The only errors are an empty input and the end of ctx.
func (e *Embedder) Embed(ctx context.Context, inputs []string) (llm.Embeddings, error) {
	vectors := make([][]float32, len(inputs))
	for i, input := range inputs {
		if ctx.Err() != nil {
			return llm.Embeddings{}, fmt.Errorf("embed: %w", context.Cause(ctx))
		}
		if input == "" {
			return llm.Embeddings{}, taskerr.Errorf(taskerr.InternalBug, "embed: input %d of %d is empty", i,
				len(inputs))
		}
		vectors[i] = e.vector(input, features(input))
	}
	return llm.Embeddings{Vectors: vectors}, nil
}

func (e *Embedder) vector(text string, weights map[uint64]tally) []float32 {
	sums := make([]float64, e.dimensions)
	// Each feature adds to one dimension; fixed-point sums don't depend on the map's order.
	for feature, weight := range weights {
		place, sign := e.place(feature)
		sums[place] += sign * math.Round(sublinear(weight)*fixedPoint)
	}
	var square float64
	for _, x := range sums {
		square += x * x
	}
	if square == 0 { // no features, or they cancelled each other out
		place, sign := e.place(hash("whole", text))
		sums[place], square = sign, 1
	}
	vector, norm := make([]float32, e.dimensions), math.Sqrt(square)
	for i, x := range sums {
		vector[i] = float32(x / norm)
	}
	return vector
}

// fixedPoint is the resolution of a weight: sums of so rounded numbers are exact in a float64.
const fixedPoint = 1 << 16

// sublinear damps repetition (1 + ln of the count, as in tf-idf); a feature that occurs once keeps its weight.
func sublinear(weight tally) float64 {
	return weight.each * (1 + math.Log(float64(weight.count)))
}

// place takes a feature's dimension and sign from different bits of its hash.
func (e *Embedder) place(feature uint64) (int, float64) {
	sign := 1.0
	if feature>>63 == 1 {
		sign = -1
	}
	return int((feature & (1<<63 - 1)) % uint64(e.dimensions)), sign
}
