// Package llm talks to models: embeddings (and, for later task types, chat) over any
// OpenAI-compatible service, and an offline provider that needs no network.
package llm

import "context"

// Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder interface {
	// Model names what made the vectors; vectors of different models are never compared.
	Model() string
	// Dimensions is the length of every vector.
	Dimensions() int
	// Embed returns one unit-length vector for each input, in order. It batches, limits and briefly
	// retries by itself. No input may be empty. Errors are *job.Error.
	Embed(ctx context.Context, inputs []string) (Embeddings, error)
}

// Embeddings is the answer to Embed.
type Embeddings struct {
	Vectors [][]float32
	Tokens  int // as the provider billed them; zero for the offline provider
}

// Counter counts the tokens of a text as the embedding model does. It is safe for concurrent use.
type Counter interface {
	Count(text string) int
}
