package config

import (
	"strings"
	"unicode"
)

// headerSecret reads a key that is sent in a header. A control character, such as the line break of a key that was copied
// with something else, would let no request out. Faults never quote the value.
func headerSecret(field func(*Config) *Secret) parser {
	return func(c *Config, s string) *fault {
		if !headerValue(s) {
			return &fault{"it holds " + notInKeys, oneLine}
		}
		*field(c) = NewSecret(s)
		return nil
	}
}

const (
	notInKeys = "a line break, or a character that can't be seen"
	oneLine   = "set it to one line, the key alone"
)

func headerValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || r != ' ' && unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)
	})
}
