// Package llm talks to models: embeddings and chat over any OpenAI-compatible service, and an offline
// provider that needs no network.
package llm

import (
	"context"
	"encoding/json"
	"errors"
)

// Embedder turns texts into vectors. It is safe for concurrent use.
type Embedder interface {
	// Model names what made the vectors; vectors of different models are never compared.
	Model() string
	// Dimensions is the length of every vector.
	Dimensions() int
	// Embed returns one unit-length vector for each input, in order. It batches, limits and briefly
	// retries by itself. No input may be empty. Errors are *taskerr.Error.
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
	// Ask asks once. It limits and briefly retries by itself. Errors are *taskerr.Error; an answer that was cut
	// off, filtered or refused is none: see Answer.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is what a model is asked: the System instructions, the turns of a conversation, then Text and Images
// as the user's last turn, when there are any.
type Question struct {
	System      string
	Turns       []Turn
	Text        string
	Images      []Image
	Tools       []Tool
	Force       string  // the name of the tool that must be called; empty: the model chooses
	Schema      *Schema // what the text of the answer must conform to; nil: free text
	Temperature float64 // 0 is the most likely answer
	MaxTokens   int     // of the answer
	// Stream, if set, gets the text of the answer piece by piece as it comes, from one goroutine at a time and
	// before Ask returns. restart: what came before it is void, because the request is made again; the piece may
	// be empty then. Of an answer that is streamed the time limit is between two pieces, else it is of the whole:
	// set Stream for long answers, even where nobody looks at the pieces.
	Stream func(piece string, restart bool)
	// StreamCall, if set beside Stream, gets likewise the arguments of calls, with the tool's name. Stream is told a
	// restart, which voids these too.
	StreamCall func(tool, piece string)
}

// Turn is one message of a conversation.
type Turn struct {
	Role  Role
	Text  string
	Calls []ToolCall // of the assistant
	Call  string     // of a tool's result: the ID of the ToolCall that it answers
}

// Role says whose turn it is.
type Role string

// The roles of turns.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolTurn  Role = "tool" // the result of a tool's call
)

// Tool is a function that the model may ask to have called.
type Tool struct {
	Name        string // [A-Za-z0-9_-], at most 64
	Description string
	Parameters  json.RawMessage // JSON Schema of an object
	Strict      bool            // the service shall enforce the schema
}

// ToolCall is the model's wish to have a tool called.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // JSON, as the model wrote it: unchecked
}

// Schema is a JSON Schema that the service enforces on an answer (structured outputs).
type Schema struct {
	Name   string // [A-Za-z0-9_-], at most 64
	Schema json.RawMessage
	Strict bool
}

// Image is a picture that a question shows.
type Image struct {
	MediaType string // e.g. "image/png"
	Data      []byte
}

// Answer is what a model says.
type Answer struct {
	Text             string
	Calls            []ToolCall // in order; the answer to them is a ToolTurn each
	End              End
	PromptTokens     int // as billed
	CompletionTokens int
}

// End says why an answer ended.
type End string

// The ends of answers.
const (
	Stopped  End = "stop"           // by itself
	Called   End = "tool_calls"     // with tools to call
	CutOff   End = "length"         // at MaxTokens, or the model's own limit
	Filtered End = "content_filter" // the service's filter took the question or the answer
	Refused  End = "refusal"        // the model says that it will not
)

// TooLong is the cause of a validation_error: the question and the answer that was asked for don't fit into the
// model's context, or are more than the service ever takes in one request. Less of it may be asked.
type TooLong struct {
	Window int // tokens that fit, as the service says; zero: it doesn't
}

func (e *TooLong) Error() string { return "longer than the model's context" }

// IsTooLong says whether err came of a question that was too long, and how many tokens would have fit; zero: not
// known.
func IsTooLong(err error) (window int, ok bool) {
	long, ok := errors.AsType[*TooLong](err)
	if !ok {
		return 0, false
	}
	return long.Window, true
}
