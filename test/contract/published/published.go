// Package published reads docs/schemas as a frontend would.
package published

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// Message is docs/schemas/message.schema.json.
func Message(t testing.TB) *jsonschema.Schema { return compile(t, "message") }

// Webhook is docs/schemas/webhook.schema.json.
func Webhook(t testing.TB) *jsonschema.Schema { return compile(t, "webhook") }

// Deck is docs/schemas/deck.schema.json.
func Deck(t testing.TB) *jsonschema.Schema { return compile(t, "deck") }

func compile(t testing.TB, name string) *jsonschema.Schema {
	t.Helper()
	root, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(filepath.Join(root, "docs/schemas", name+".schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Problem is why a JSON text does not conform to a schema; empty: it does.
func Problem(s *jsonschema.Schema, text string) string {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err == nil {
		err = s.Validate(value)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}
