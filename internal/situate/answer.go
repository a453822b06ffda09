package situate

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/prompt"
)

// The length of a context.
const (
	askedWords = 40 // that the model is asked for, at most
	mostWords  = 60
	mostRunes  = 500 // also bounds languages without spaces
)

// Read returns the contexts in an answer, in the order of Chunks. What is not as requested is empty: another passage's, a
// too long one, or all if the answer is not the JSON that was asked for.
func (r Request) Read(a llm.Answer) []string {
	found := make([]string, len(r.Chunks))
	if a.End == llm.Filtered || a.End == llm.Refused || a.End == llm.CutOff {
		return found
	}
	var given struct {
		Contexts []struct {
			Passage int    `json:"passage"`
			Context string `json:"context"`
		} `json:"contexts"`
	}
	if json.Unmarshal(prompt.Object(a.Text), &given) != nil {
		return found
	}
	for _, c := range given.Contexts {
		for i, number := range r.numbers {
			if number != c.Passage {
				continue
			}
			if text := r.sentence(c.Context); text != "" {
				found[i] = text
			}
		}
	}
	return found
}

// sentence is a context on one line without characters that don't show; empty: it can't be used.
func (r Request) sentence(text string) string {
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case unicode.IsControl(c), unicode.Is(unicode.Cf, c) && c != '\u200c' && c != '\u200d': // joiners belong to words
			return -1
		}
		return c
	}, strings.ToValidUTF8(text, ""))
	words := strings.Fields(text)
	text = strings.Join(words, " ")
	switch {
	case len(words) > mostWords, utf8.RuneCountInString(text) > mostRunes, strings.Contains(text, r.marker),
		!strings.ContainsFunc(text, unicode.IsLetter):
		return ""
	}
	return text
}
