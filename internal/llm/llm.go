// Package llm talks to models: embeddings and chat over any OpenAI-compatible service, and an offline
// provider that needs no network.
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

// Chat asks a model. It is safe for concurrent use.
type Chat interface {
	// Model names what answers.
	Model() string
	// Ask asks once. It limits and briefly retries by itself. Errors are *job.Error; an answer that was cut
	// off, filtered or refused is none: see Answer.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is what a model is asked.
type Question struct {
	Text        string
	Images      []Image
	Temperature float64 // 0 is the most likely answer
	MaxTokens   int     // of the answer
}

// Image is a picture that a question shows.
type Image struct {
	MediaType string // e.g. "image/png"
	Data      []byte
}

// Answer is what a model says.
type Answer struct {
	Text             string
	End              End
	PromptTokens     int // as billed
	CompletionTokens int
}

// End says why an answer ended.
type End string

// The ends of answers.
const (
	Stopped  End = "stop"           // by itself
	CutOff   End = "length"         // at MaxTokens, or the model's own limit
	Filtered End = "content_filter" // the service's filter took the question or the answer
	Refused  End = "refusal"        // the model says that it will not
)
