package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// Limits of a payload.
const (
	maxPrompt    = 64 << 10  // bytes
	maxHistory   = 256 << 10 // bytes, of all messages together
	maxMessages  = 200
	maxSchema    = 32 << 10 // bytes
	maxDepth     = 32       // levels of a schema
	maxSetName   = 200      // characters, as of ingest
	maxSteps     = 50
	defaultSteps = 20
)

// Payload is what an agent or ai task says.
type Payload struct {
	// The question, or what is to be done; at most 64 KiB.
	Prompt string `json:"prompt" jsonschema:"required,maxLength=65536"`
	// The set to look in. Default: all of the tenant's documents.
	DocumentSet string `json:"document_set" jsonschema:"maxLength=200"`
	// The conversation before the prompt, oldest first; at most 256 KiB.
	History []Message `json:"history" jsonschema:"maxItems=200"`
	// How many answers of the model at most. Default: 20.
	MaxSteps *int `json:"max_steps" jsonschema:"minimum=1,maximum=50"`
	// A JSON Schema that the answer has to conform to. Default: the answer is a text.
	ResponseSchema json.RawMessage `json:"response_schema"`

	shape *shape // of the answer, by ResponseSchema; nil: text
}

// Message is a turn of the conversation.
type Message struct {
	Role    string `json:"role" jsonschema:"required,enum=user,enum=assistant"` // who said it
	Content string `json:"content" jsonschema:"required"`                       // what was said
}

func readPayload(raw json.RawMessage) (Payload, error) {
	var p Payload
	err := handlers.ReadPayload(raw, &p,
		"prompt and document_set are strings, history is a list of {role, content}, max_steps is a whole number, "+
			"response_schema is an object")
	if err != nil {
		return p, err
	}
	switch {
	case strings.TrimSpace(p.Prompt) == "":
		return p, handlers.Invalid("payload.prompt", "is missing; ask something")
	case len(p.Prompt) > maxPrompt:
		return p, handlers.Invalid("payload.prompt", "has %d bytes; %d are allowed: put long texts into documents",
			len(p.Prompt), maxPrompt)
	}
	if problem := setProblem(p.DocumentSet); problem != "" {
		return p, handlers.Invalid("payload.document_set", "%s", problem)
	}
	if p.MaxSteps == nil {
		p.MaxSteps = new(defaultSteps)
	}
	if *p.MaxSteps < 1 || *p.MaxSteps > maxSteps {
		return p, handlers.Invalid("payload.max_steps", "is %d; give 1 to %d, or leave it out for %d", *p.MaxSteps,
			maxSteps, defaultSteps)
	}
	if err := p.checkHistory(); err != nil {
		return p, err
	}
	return p, p.readSchema()
}

func setProblem(name string) string {
	switch {
	case utf8.RuneCountInString(name) > maxSetName:
		return fmt.Sprintf("is longer than %d characters", maxSetName)
	case strings.IndexFunc(name, unicode.IsControl) >= 0:
		return "has a control character in it"
	case strings.TrimSpace(name) != name:
		return "begins or ends with white space"
	}
	return ""
}

func (p *Payload) checkHistory() error {
	if len(p.History) > maxMessages {
		return handlers.Invalid("payload.history", "has %d messages; %d are allowed: leave out the oldest",
			len(p.History), maxMessages)
	}
	total := 0
	for i, m := range p.History {
		field := fmt.Sprintf("payload.history[%d]", i)
		switch llm.Role(m.Role) {
		case llm.User, llm.Assistant:
		default:
			return handlers.Invalid(field+".role", "is %q; it is user or assistant", clip(m.Role, 40))
		}
		if strings.TrimSpace(m.Content) == "" {
			return handlers.Invalid(field+".content", "is missing")
		}
		total += len(m.Content)
	}
	if total > maxHistory {
		return handlers.Invalid("payload.history", "has %d bytes; %d are allowed: leave out the oldest messages", total,
			maxHistory)
	}
	return nil
}

func (p *Payload) readSchema() (err error) {
	raw := bytes.TrimSpace(p.ResponseSchema)
	const field = "payload.response_schema"
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] != '{':
		return handlers.Invalid(field, "is not an object; give a JSON Schema such as {\"type\": \"object\", "+
			"\"properties\": {…}}")
	case len(raw) > maxSchema:
		return handlers.Invalid(field, "has %d bytes; %d are allowed", len(raw), maxSchema)
	}
	if p.shape, err = newShape(raw); err != nil {
		return handlers.Invalid(field, "is not a JSON Schema: %s", err)
	}
	return nil
}

// clip truncates a text to a number of characters.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
