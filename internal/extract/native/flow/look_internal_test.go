package flow

import (
	"strings"
	"testing"
)

// TestTrim: the text before each tab is that without the signs around it, whatever was added since the last one.
func TestTrim(t *testing.T) {
	t.Parallel()
	for _, pieces := range [][]string{
		{"1", ". ", "2)"},
		{"(", "", " a", "", " b ", "..", "c"},
		{" .", " :", ") "},
		{"a....", "....", "b"},
		{"", "x"},
	} {
		var l Look
		text := ""
		for _, piece := range pieces {
			text += piece
			if got, want := l.trim(text), strings.Trim(text, " ().:"); got != want {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
			text += " "
		}
	}
}

// BenchmarkTabs: a paragraph of signs and tabs takes time in proportion to its length.
func BenchmarkTabs(b *testing.B) {
	text := strings.Repeat(".", 1<<20)
	for b.Loop() {
		var l Look
		for i := 0; i < len(text); i += 8 {
			l.Tab(text[:i])
		}
	}
}
