// Package prompt quotes text of documents in questions to a model, and finds the JSON in its answers.
package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Entry is one numbered piece of a prompt.
type Entry struct {
	Heading string // on one line; empty: none
	Text    string
}

// Quoted puts entries between lines with a marker that does not occur in them: no text of a document can end the data or
// begin another entry. Entries are numbered from 1, in square brackets behind the marker. The marker depends on the text,
// so that the same text gives the same prompt.
func Quoted(entries []Entry) (text, marker string) {
	var all strings.Builder
	for _, e := range entries {
		all.WriteString(e.Heading + "\x00" + e.Text + "\x00")
	}
	sum := sha256.Sum256([]byte(all.String()))
	for marker = mark(sum); strings.Contains(all.String(), marker); marker = mark(sum) {
		sum = sha256.Sum256(sum[:])
	}
	var b strings.Builder
	for i, e := range entries {
		fmt.Fprintf(&b, "%s [%d]", marker, i+1)
		if e.Heading != "" {
			b.WriteString(" under: " + e.Heading)
		}
		b.WriteString("\n" + e.Text + "\n")
	}
	b.WriteString(marker + " end\n")
	return b.String(), marker
}

func mark(sum [sha256.Size]byte) string { return "§" + hex.EncodeToString(sum[:4]) }

// Object returns the JSON object in a text: some models put it into a block of code, or add remarks.
func Object(text string) []byte {
	first, last := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if first < 0 || last < first {
		return []byte(text)
	}
	return []byte(text[first : last+1])
}
