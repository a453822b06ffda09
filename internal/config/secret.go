package config

import (
	"fmt"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a value that prints as "[redacted]" however it is printed, logged or marshaled. The zero Secret is unset
// and prints as "".
type Secret struct {
	// A pointer: fmt's reflection over an unexported field that holds a Secret can't reach the text.
	text *string
}

// NewSecret returns a Secret of text; an empty text is the unset Secret.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// IsSet reports whether there is a value.
func (s Secret) IsSet() bool { return s.text != nil }

// Reveal returns the value itself, or "". Pass it only to the client that needs it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

func (s Secret) String() string {
	if s.text == nil {
		return ""
	}
	return redacted
}

// GoString redacts %#v.
func (s Secret) GoString() string { return s.String() }

// Format redacts every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue redacts log attributes.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText redacts JSON and everything else that marshals to text.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON redacts JSON.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }
