package cli

import (
	"bytes"
	"strings"
	"testing"
)

// A list with long ids is not wider than a line: if the last column has no room, it is part of the notes.
func TestListing(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("i", 97)
	for last, columns := range map[string]int{"a.pdf": 3, "a-report-with-a-name.pdf": 2, strings.Repeat("n", 90): 2} {
		var out bytes.Buffer
		if err := listing(&out, []string{"ID", "STATE", "DOCUMENT"}, []item{
			{[]string{id, "succeeded", last}, "was read by OCR"},
		}); err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(out.String(), "\n")
		if len(strings.Fields(head)) != columns || !strings.Contains(out.String(), last) ||
			!strings.Contains(out.String(), "was read by OCR") {
			t.Errorf("%s: %d columns wanted in\n%s", last, columns, &out)
		}
		for line := range strings.Lines(out.String()) {
			if len(strings.TrimRight(line, "\n")) > maxLineWidth {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
	}
}

// A paragraph that is wider than the terminal is wrapped; tables and commands stay as they are.
func TestRefilled(t *testing.T) {
	t.Parallel()
	text := "one two three\nfour five\n\n  a   table stays as it is\nshort\nlines"
	for width, want := range map[int]string{
		80: text,
		10: "one two\nthree four\nfive\n\n  a   table stays as it is\nshort\nlines",
	} {
		if got := refilled(text, width); got != want {
			t.Errorf("at %d: %q, want %q", width, got, want)
		}
	}
}
