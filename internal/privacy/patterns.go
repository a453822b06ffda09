package privacy

import (
	"context"
	"slices"
	"strings"
)

// Patterns finds personal data by its form, and by its check where it has one, without a model or network. It
// finds no names and no postal addresses.
type Patterns struct{}

// Version implements Detector.
func (Patterns) Version() string { return "patterns@3" }

// Find implements Detector. Its only error is the context's cause.
func (Patterns) Find(ctx context.Context, texts []string, _ string) ([][]Finding, error) {
	found := make([][]Finding, len(texts))
	for i, text := range texts {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		found[i] = find(text)
	}
	return found, nil
}

func find(text string) []Finding {
	var found []Finding
	add := func(k Kind, score float64, places [][2]int) {
		for _, p := range places {
			found = append(found, Finding{Kind: k, Start: p[0], End: p[1], Score: score})
		}
	}
	if strings.Contains(text, "@") {
		add(Email, 0.95, emails(text))
	}
	if strings.Count(text, ":") > 1 || strings.Count(text, ".") > 2 {
		add(IPAddress, 0.9, addresses(text))
	}
	if !strings.ContainsAny(text, "0123456789") {
		return found
	}
	// A number with a check has a higher score than a telephone number that it may look like.
	add(IBAN, 1, ibans(text))
	add(CreditCard, 0.98, cards(text))
	add(NationalID, 0.97, nationalIDs(text))
	add(Phone, 0.7, phones(text))
	return found
}

// digitsOf returns the digits of a text.
func digitsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, text)
}

// apart reports whether a piece of a text is separate: it has neither a letter nor a digit next to it, nor a
// digit after a point, comma or dash, which would continue a number.
func apart(text string, start, end int) bool {
	return !continues(reversed(text[max(start-8, 0):start]), marks) &&
		!continues([]rune(text[end:min(end+8, len(text))]), marks)
}

// marks continue a number if a digit follows them.
const marks = ".,-/_+:"

// continues reports whether a number or word continues with the next characters.
func continues(next []rune, marks string) bool {
	switch {
	case len(next) == 0:
		return false
	case isAlphanumeric(next[0]):
		return true
	case len(next) > 1 && strings.ContainsRune(marks, next[0]):
		return '0' <= next[1] && next[1] <= '9'
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func reversed(text string) []rune {
	runes := []rune(text)
	slices.Reverse(runes)
	return runes
}
