package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/markdown"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
)

// read returns the blocks of a text that follows a line of inline code, which looks like a fence and isn't one.
func read(t *testing.T, text string) []extract.Block {
	t.Helper()
	doc, err := nativetest.Extract(t, markdown.New(), extract.Markdown, []byte("```x``` begins\n\n"+text), extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return doc.Blocks[1:]
}

// TestLongCode: code that is longer than a slice stays code, and the text after it text.
func TestLongCode(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct{ before, open, shut, indent string }{
		"top":    {"", "```go", "```", ""},
		"tildes": {"", "~~~~", "~~~~~", ""},
		"a list": {"- item\n\n", "  ```go", "  ```", "  "},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var code, source strings.Builder
			for i := range 10_000 {
				line := fmt.Sprintf("# %d: *no* [heading]\n", i)
				code.WriteString(line)
				source.WriteString(tt.indent + line)
			}
			blocks := read(t, tt.before+tt.open+"\n"+source.String()+tt.shut+"\n\nThe text after it.\n")
			if tt.before != "" {
				blocks = blocks[1:]
			}
			var got strings.Builder
			for _, b := range blocks[:len(blocks)-1] {
				if b.Kind != extract.Code {
					t.Fatalf("got %s %.50q", b.Kind, b.Text)
				}
				got.WriteString(b.Text + "\n")
			}
			if got.String() != code.String() {
				t.Errorf("got %d bytes of code in %d blocks, want %d", got.Len(), len(blocks)-1, code.Len())
			}
			if last := blocks[len(blocks)-1]; last.Kind != extract.Paragraph || last.Text != "The text after it." {
				t.Errorf("got %s %.50q after it", last.Kind, last.Text)
			}
		})
	}
}

// A code block that begins on the line of a list's item ends with its fence, or with the item: what follows is no code.
func TestCodeInAnItem(t *testing.T) {
	t.Parallel()
	rest := "\nA text[^1] with [a link][a].\n\n[^1]: The note.\n[a]: https://example.org/a\n"
	for what, code := range map[string]string{
		"closed":                  "- ```bash\n  make\n  ```\n",
		"closed in the second":    "1. - ~~~\n     make\n     ~~~\n",
		"ends with its item":      "10. ```\n    make\n",
		"has what looks like one": "- ```\n  - ```\n  ```\n",
	} {
		blocks := read(t, code+rest)
		var note, link bool
		for _, b := range blocks {
			note = note || strings.HasPrefix(b.Text, "[1] The note.")
			link = link || len(b.Links) == 1 && b.Links[0].Target == "https://example.org/a"
		}
		if !note || !link {
			t.Errorf("%s: got %+v", what, blocks)
		}
	}
	long := strings.Repeat("Some words of a paragraph that goes on.\n", 4000)
	for _, b := range read(t, "- ```bash\n  make\n  ```\n\n"+long)[1:] {
		if b.Kind == extract.Code {
			t.Fatalf("a paragraph is code: %.50q", b.Text)
		}
	}
}

// TestLongTable: each slice of a table has its header.
func TestLongTable(t *testing.T) {
	t.Parallel()
	for what, header := range map[string]string{
		"pipes around": "| Berth \\| quay | Tonnes |\n| :-- | --: |\n",
		"pipes inside": "Berth \\| quay | Tonnes\n---|---\n",
		"CRLF":         "| Berth \\| quay | Tonnes |\r\n|---|---|\r\n",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var source strings.Builder
			for i := range 10_000 {
				fmt.Fprintf(&source, "| berth *%d* | %d |\n", i, i)
			}
			blocks := read(t, header+source.String()+"\nThe text after it.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
			tables, rows := blocks[:len(blocks)-2], 0
			for i, b := range tables {
				if b.Table == nil || b.Table.Headers != 1 || b.Table.Rows[0][0].Text != "Berth | quay" || b.Table.Continued != (i > 0) {
					t.Fatalf("block %d: got %s %.50q, %+v", i, b.Kind, b.Text, b.Table)
				}
				for _, row := range b.Table.Rows[1:] {
					if want := fmt.Sprint(rows); row[0].Text != "berth "+want || row[1].Text != want {
						t.Fatalf("row %d: got %v", rows, row)
					}
					rows++
				}
			}
			if after := blocks[len(blocks)-2:]; rows != 10_000 || after[0].Text != "The text after it." || after[1].Table.Continued {
				t.Errorf("got %d rows in %d blocks, then %+v", rows, len(tables), after)
			}
		})
	}
}
