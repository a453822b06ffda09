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
	// Model identifies the model; vectors of different models are never compared.
	Model() string
	// Dimensions is the length of every vector.
	Dimensions() int
	// Embed returns one unit-length vector for each input, in order. It batches, limits the rate and retries briefly.
	// No input may be empty. Errors are *taskerr.Error.
	Embed(ctx context.Context, inputs []string) (Embeddings, error)
}

// Questioner is an Embedder that knows a question from a text: a question's words weigh as much as they are rare among the
// texts that are searched. Its Embed is for texts, bills nothing, and is near enough for questions, too.
type Questioner interface {
	Embedder
	// Question returns the unit-length vector of a question to a number of texts. chunks is how many of them have a word;
	// see store.Rarity.
	Question(text string, all float64, chunks map[string]*float64) []float32
}

// Embeddings is the result of Embed.
type Embeddings struct {
	Vectors [][]float32
	Tokens  int // as the provider billed them, also before an error; zero for the offline provider
}

// Counter counts the tokens of a text. It is safe for concurrent use.
type Counter interface {
	Count(text string) int
}

// Chat sends questions to a model. It is safe for concurrent use.
type Chat interface {
	// Model identifies the model.
	Model() string
	// Ask asks one question. It limits the rate and retries briefly. Errors are *taskerr.Error; an answer that was cut
	// off, filtered or refused is not an error: see Answer.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is a question to a model: the System instructions, the turns of a conversation, then Text and Images as the
// user's last turn, if there are any.
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
	// Stream, if set, gets the text of the answer piece by piece as it arrives, from one goroutine at a time and before
	// Ask returns. restart: earlier pieces are void, because the request is retried; the piece may then be empty. The
	// timeout of a streamed answer is between two pieces, otherwise it covers the whole answer: set Stream for long
	// answers, even if the pieces are not used.
	Stream func(piece string, restart bool)
	// StreamCall, if set in addition to Stream, gets the arguments of calls in the same way, with the tool's name. A
	// restart is reported to Stream only, and voids these too.
	StreamCall func(tool, piece string)
}

// Turn is one message of a conversation.
type Turn struct {
	Role  Role
	Text  string
	Calls []ToolCall // of the assistant
	Call  string     // of a tool's result: the ID of the ToolCall that it answers
}

// Role is the author of a turn.
type Role string

// The roles of turns.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolTurn  Role = "tool" // the result of a tool's call
)

// Tool is a function that the model may call.
type Tool struct {
	Name        string // [A-Za-z0-9_-], at most 64
	Description string
	Parameters  json.RawMessage // JSON Schema of an object
	Strict      bool            // the service shall enforce the schema
}

// ToolCall is a call of a tool by the model.
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

// Image is an image in a question.
type Image struct {
	MediaType string // e.g. "image/png"
	Data      []byte
}

// Answer is a model's answer.
type Answer struct {
	Text             string
	Calls            []ToolCall // in order; the answer to them is a ToolTurn each
	End              End
	PromptTokens     int // as billed
	CompletionTokens int
}

// End is why an answer ended.
type End string

// The ends of answers.
const (
	Stopped  End = "stop"           // by itself
	Called   End = "tool_calls"     // with tools to call
	CutOff   End = "length"         // at MaxTokens, or the model's own limit
	Filtered End = "content_filter" // the service's filter took the question or the answer
	Refused  End = "refusal"        // the model says that it will not
)

// TooLong is the cause of a validation_error: question and answer together exceed the model's context, or what the
// service accepts in one request. A shorter question may work.
type TooLong struct {
	Window int // tokens that fit, from the service; zero: unknown
}

func (e *TooLong) Error() string { return "longer than the model's context" }

// IsTooLong reports whether err was caused by a question that was too long, and how many tokens would fit; zero:
// unknown.
func IsTooLong(err error) (window int, ok bool) {
	long, ok := errors.AsType[*TooLong](err)
	if !ok {
		return 0, false
	}
	return long.Window, true
}
