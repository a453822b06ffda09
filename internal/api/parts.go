package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Parts is a stored JSON array of what T describes. The names in it are written in camelCase, as in all answers; a name
// that is stored in another form is still beside it, with its value as stored, for clients of an earlier version.
type Parts[T any] json.RawMessage

// Schema implements huma.SchemaProvider.
func (Parts[T]) Schema(r huma.Registry) *huma.Schema {
	t := reflect.TypeFor[T]()
	return &huma.Schema{Type: huma.TypeArray, Items: r.Schema(t, true, t.Name())}
}

// MarshalJSON implements json.Marshaler.
func (p Parts[T]) MarshalJSON() ([]byte, error) {
	if len(p) == 0 || string(p) == "null" {
		return []byte("[]"), nil
	}
	decoder := json.NewDecoder(bytes.NewReader(p))
	decoder.UseNumber() // as it is written
	var stored any
	if err := decoder.Decode(&stored); err != nil {
		return nil, err
	}
	return json.Marshal(camel(stored))
}

// camel adds to the objects in a value the names in camelCase.
func camel(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = camel(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		// as stored, unless it is in camelCase already
		maps.Copy(out, v)
		for name, value := range v {
			renamed := camelName(name)
			if _, taken := v[renamed]; renamed == name || !taken {
				out[renamed] = camel(value)
			}
		}
		return out
	}
	return v
}

// camelName is a name without its underscores: documentId for document_id.
func camelName(name string) string {
	first, rest, _ := strings.Cut(name, "_")
	if first == "" {
		return name
	}
	var b strings.Builder
	b.WriteString(first)
	for word := range strings.SplitSeq(rest, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// Citation is a passage that an answer of the agent rests on.
type Citation struct {
	_          struct{} `additionalProperties:"true"`
	DocumentID string   `json:"documentId,omitempty"`
	Filename   string   `json:"filename,omitempty"`
	ChunkID    string   `json:"chunkId,omitempty"`
	Page       *int     `json:"page,omitempty" nullable:"true" doc:"The first of the passage; null: the format has none."`
	Pages      []int    `json:"pages,omitempty" doc:"Of the passage, when they are several."`
	Quote      string   `json:"quote,omitempty" doc:"As the document spells it."`
	OldDocID   string   `json:"document_id,omitempty" deprecated:"true" doc:"The former name of documentId."`
	OldChunkID string   `json:"chunk_id,omitempty" deprecated:"true" doc:"The former name of chunkId."`
}

// Step is an answer of the model on the way to that of the agent.
type Step struct {
	_                   struct{}  `additionalProperties:"true"`
	Tools               []ToolUse `json:"tools,omitempty"`
	PromptTokens        int       `json:"promptTokens,omitempty"`
	CompletionTokens    int       `json:"completionTokens,omitempty"`
	Forced              string    `json:"forced,omitempty" doc:"Why it had to be the last one."`
	OldPromptTokens     int       `json:"prompt_tokens,omitempty" deprecated:"true" doc:"The former name of promptTokens."`
	OldCompletionTokens int       `json:"completion_tokens,omitempty" deprecated:"true" doc:"The former name of completionTokens."`
}

// ToolUse is one call of a tool.
type ToolUse struct {
	_         struct{} `additionalProperties:"true"`
	Name      string   `json:"name,omitempty"`
	Arguments string   `json:"arguments,omitempty" doc:"The model's, cut."`
	Bytes     int      `json:"bytes,omitempty" doc:"Of its result."`
	Problem   string   `json:"problem,omitempty"`
}

// KeyPoint is a statement of a summary.
type KeyPoint struct {
	_          struct{}  `additionalProperties:"true"`
	Text       string    `json:"text,omitempty"`
	Pages      []int     `json:"pages,omitempty"`
	Citations  []Passage `json:"citations,omitempty" doc:"What it is taken from."`
	Unverified []Claim   `json:"unverified,omitempty" doc:"What is not in the passages that it cites."`
}

// Passage is a passage of the summarized document.
type Passage struct {
	_           struct{} `additionalProperties:"true"`
	ChunkKey    string   `json:"chunkKey,omitempty" doc:"Of the same chunk, when the document is in the index."`
	Pages       []int    `json:"pages,omitempty"`
	Heading     string   `json:"heading,omitempty"`
	OldChunkKey string   `json:"chunk_key,omitempty" deprecated:"true" doc:"The former name of chunkKey."`
}

// Claim is a number or a quotation that is not in the text that is cited for it.
type Claim struct {
	_             struct{} `additionalProperties:"true"`
	Kind          string   `json:"kind,omitempty" doc:"number or quotation."`
	Text          string   `json:"text,omitempty"`
	InDocument    bool     `json:"inDocument,omitempty" doc:"It is elsewhere in the document."`
	OldInDocument bool     `json:"in_document,omitempty" deprecated:"true" doc:"The former name of inDocument."`
}

// LeftOut is a section of which a summary says nothing.
type LeftOut struct {
	_       struct{} `additionalProperties:"true"`
	Heading string   `json:"heading,omitempty"`
	Pages   []int    `json:"pages,omitempty"`
	Reason  string   `json:"reason,omitempty"`
}

// Finding is what a document does not bear out of an answer of the gateway.
type Finding struct {
	_       struct{} `additionalProperties:"true"`
	Path    string   `json:"path,omitempty" doc:"A JSON Pointer into the gateway's answer."`
	Value   string   `json:"value,omitempty" doc:"What the gateway read."`
	Page    int      `json:"page,omitempty" doc:"On which the model says it is."`
	Stated  string   `json:"stated,omitempty"`
	Problem string   `json:"problem,omitempty"`
	Pages   []int    `json:"pages,omitempty" doc:"On which it is."`
}
