package docling_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	wire "github.com/seed-7227ef26/async-worker/internal/docling"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/docling"
	"github.com/seed-7227ef26/async-worker/internal/extract/score"
)

// corpus has Docling's output for real third-party documents, beside the repository: NAME.md, and NAME.json if the
// DoclingDocument exists, too. DOCLING_DOCUMENTS names another folder of such pairs.
const corpus = "../../../../shared/corpus/docling"

// The blocks of a DoclingDocument have the words of Docling's Markdown, in the same order.
func TestAgreesWithDoclingsMarkdown(t *testing.T) {
	t.Parallel()
	folder := corpus
	if other := os.Getenv("DOCLING_DOCUMENTS"); other != "" {
		folder = other
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("no DoclingDocument (NAME.json with NAME.md) in " + folder + "; DOCLING_DOCUMENTS names another folder")
	}
	sumF1, sumOrder, n := 0.0, 0.0, 0
	for _, path := range files {
		reference, err := os.ReadFile(strings.TrimSuffix(path, ".json") + ".md")
		if err != nil {
			continue
		}
		if share := foreign(t, string(reference), path); share > 0.05 {
			t.Logf("%s left out: %.0f %% of the words in its Markdown are nowhere in its JSON", filepath.Base(path),
				100*share)
			continue
		}
		f1, order := score.Score(string(reference), markdown(t, path))
		t.Logf("%.3f %.3f %s", f1, order, filepath.Base(path))
		if f1 < 0.9 || order < 0.9 {
			t.Errorf("%s: F1 %.3f, order %.3f", filepath.Base(path), f1, order)
		}
		sumF1, sumOrder, n = sumF1+f1, sumOrder+order, n+1
	}
	f1, order := sumF1/float64(n), sumOrder/float64(n)
	t.Logf("%.4f %.4f mean of %d", f1, order, n)
	if f1 < 0.99 || order < 0.99 {
		t.Errorf("mean F1 %.4f, order %.4f of %d documents", f1, order, n)
	}
}

// foreign returns the fraction of the reference's words that are not in the JSON: then the two are from
// different versions of Docling.
func foreign(t *testing.T, reference, path string) float64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	known := map[string]bool{}
	for d := json.NewDecoder(file); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, _ := token.(string)
		for _, word := range score.Words(strings.ReplaceAll(text, "_", " ") + " " + text) {
			known[word] = true
		}
	}
	words, missing := score.Words(reference), 0
	for _, word := range words {
		if !known[word] {
			missing++
		}
	}
	return float64(missing) / float64(max(len(words), 1))
}

func markdown(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	doc, err := wire.ReadDocument(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var text bytes.Buffer
	w := extract.NewMarkdownWriter(&text)
	if err := docling.Blocks(doc, w.Write); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
