package pdf_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/test/corpus"
)

// thirdParty returns a path in the folder of third-party documents beside the repository. Without it, the test is skipped.
func thirdParty(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "..", "shared", "corpus")
	if _, err := os.Stat(dir); err != nil {
		t.Skip(corpus.Missing)
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

func collect(t *testing.T, path string) (*extract.Document, error) {
	t.Helper()
	return extract.Collect(t.Context(), pdf.New(), extract.Source{Path: path, Format: extract.PDF}, extract.Limits{})
}

func markdownOf(t *testing.T, doc *extract.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := extract.WriteMarkdown(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestAgainstReference compares the extraction with another program's output for the same documents.
func TestAgainstReference(t *testing.T) {
	t.Parallel()
	thirdParty(t)
	for _, name := range []string{
		"2305.03393v1-pg9", "amt_handbook_sample", "code_and_formula", "multi_page", "normal_4pages",
		"table_mislabeled_as_picture",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := collect(t, thirdParty(t, "documents", name+".pdf"))
			if err != nil {
				t.Fatal(err)
			}
			reference, err := os.ReadFile(thirdParty(t, "docling", name+".pdf.md"))
			if err != nil {
				t.Fatal(err)
			}
			text := markdownOf(t, doc)
			if dir := os.Getenv("PDF_MARKDOWN"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f1 := wordF1(wordsOf(string(reference)), wordsOf(text))
			t.Logf("word F1 %.3f, %d blocks", f1, len(doc.Blocks))
			if f1 < 0.95 {
				t.Errorf("word F1 is %.3f, want at least 0.95", f1)
			}
		})
	}
}

var (
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
	aWord   = regexp.MustCompile(`[\pL\pN_]+`)
)

// wordsOf counts the words of a Markdown text.
func wordsOf(text string) map[string]int {
	text = comment.ReplaceAllString(text, " ")
	text = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&", `\_`, "_").Replace(text)
	counts := map[string]int{}
	for _, w := range aWord.FindAllString(strings.ToLower(text), -1) {
		counts[w]++
	}
	return counts
}

// wordF1 returns the F1 measure of two multisets of words: 1 if they are equal.
func wordF1(a, b map[string]int) float64 {
	shared, total := 0, 0
	for w, n := range a {
		shared += min(n, b[w])
		total += n
	}
	for _, n := range b {
		total += n
	}
	return 2 * float64(shared) / float64(max(total, 1))
}
