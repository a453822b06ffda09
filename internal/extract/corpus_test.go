package extract_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/extract/score"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/test/corpus"
)

// shared is a folder of real documents of third parties, beside the repository.
const shared = "../../../shared/corpus"

func corpusFiles(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(shared, folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip(corpus.Missing)
	}
	return files
}

// readable are the extensions of the formats that native extractors read.
func readable() []string { return []string{".pdf", ".docx", ".pptx", ".xlsx", ".html", ".md", ".csv"} }

func router() *extract.Router { return extract.NewRouter(native.Extractors(pdf.New(), nil)) }

func toMarkdown(t *testing.T, r *extract.Router, path string) (string, extract.Info, error) {
	t.Helper()
	src, err := extract.Open(path, filepath.Base(path))
	if err != nil {
		return "", extract.Info{}, err
	}
	doc, err := extract.Collect(t.Context(), r, src, extract.Limits{})
	if err != nil {
		return "", extract.Info{}, err
	}
	var out bytes.Buffer
	if err := extract.WriteMarkdown(&out, doc); err != nil {
		t.Fatal(err)
	}
	return out.String(), doc.Info, nil
}

// TestCorpusQuality compares the extractors with Docling's output for the same files.
func TestCorpusQuality(t *testing.T) {
	t.Parallel()
	files := corpusFiles(t, "documents")
	r := router()
	var f1Sum, orderSum float64
	measured := 0
	for _, path := range files {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "ocr_test") ||
			!slices.Contains(readable(), filepath.Ext(name)) {
			continue // scans, and formats that are not read yet
		}
		reference, err := os.ReadFile(filepath.Join(shared, "docling", name+".md"))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		output, info, err := toMarkdown(t, r, path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if dir := os.Getenv("EXTRACT_OUTPUT"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(output), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f1, order := score.Score(string(reference), output)
		t.Logf("%-32s F1 %.3f  order %.3f  %s, %d characters", name, f1, order, info.Extractor, info.Characters)
		f1Sum, orderSum, measured = f1Sum+f1, orderSum+order, measured+1
	}
	f1, order := f1Sum/float64(measured), orderSum/float64(measured)
	t.Logf("%-32s F1 %.3f  order %.3f  over %d files", "mean", f1, order, measured)
	if f1 < 0.95 {
		t.Errorf("mean word F1 is %.3f, want at least 0.95", f1)
	}
}

// TestSamples: extraction keeps all words of our own documents, in order, and finds text in those of third parties.
func TestSamples(t *testing.T) {
	t.Parallel()
	r := router()
	for _, path := range corpus.Documents(t) {
		if !slices.Contains(readable(), filepath.Ext(path)) || strings.HasPrefix(filepath.Base(path), "ocr_test") {
			continue // formats that are not read, and scans
		}
		output, info, err := toMarkdown(t, r, path)
		if err != nil || len(output) < 100 || info.Extractor == "" {
			t.Errorf("%s: %d bytes by %q, %v", filepath.Base(path), len(output), info.Extractor, err)
		}
		if reference, own := corpus.Reference(t, path); own {
			if f1, order := score.Score(reference, output); f1 < 0.99 || order < 0.99 {
				t.Errorf("%s: F1 %.3f, order %.3f, want at least 0.99", filepath.Base(path), f1, order)
			}
		}
	}
}

// TestHostileFiles: a damaged, encrypted or misdeclared file gives a result or one clear error.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	r := router()
	for _, path := range corpus.Hostile(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			output, _, err := toMarkdown(t, r, path)
			if err == nil {
				t.Logf("result of %d bytes: %.60q", len(output), output)
				return
			}
			t.Log(err)
			e, ok := errors.AsType[*taskerr.Error](err)
			if !ok || e.Class == taskerr.InternalBug || e.Message == "" {
				t.Errorf("not a clear error: %v", err)
			}
		})
	}
}
