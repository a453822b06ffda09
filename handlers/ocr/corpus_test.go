package ocr_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/score"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/test/corpus"
)

// shared is a folder of real documents of third parties, beside the repository. The test is skipped without it.
const shared = "../../../shared/corpus"

func TestCorpusAccuracy(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(shared, "documents", "ocr_test*.pdf"))
	if err != nil || len(files) == 0 {
		t.Skip(corpus.Missing)
	}
	b := newBench(t, nil)
	for _, path := range files {
		name := filepath.Base(path)
		reference, err := os.ReadFile(filepath.Join(shared, "docling", name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b.Put(name, string(content))
		r := b.do(fmt.Sprintf(`{"filename":%q}`, name), task.Hints{})
		f1, order := score.Score(string(reference), b.Get(r.DerivedBlob))
		t.Logf("%-26s F1 %.3f  order %.3f  confidence %.3f", name, f1, order, *r.MeanConfidence)
		if f1 < 0.9 || order < 0.9 {
			t.Errorf("%s: F1 %.3f, order %.3f", name, f1, order)
		}
	}
}
