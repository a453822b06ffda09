// Package nativetest runs an extractor on small inputs, for the tests of the extractors.
package nativetest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Extract runs the extractor behind a Router, as the worker does.
func Extract(
	t testing.TB, e extract.Extractor, format extract.Format, content []byte, limits extract.Limits,
) (*extract.Document, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	src := extract.Source{Path: path, Name: "file", Size: int64(len(content)), Format: format}
	return extract.Collect(t.Context(), extract.NewRouter(map[extract.Format]extract.Extractor{format: e}), src, limits)
}

// Markdown extracts the content, which must succeed, and returns it as Markdown.
func Markdown(t testing.TB, e extract.Extractor, format extract.Format, content []byte) string {
	t.Helper()
	doc, err := Extract(t, e, format, content, extract.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := extract.WriteMarkdown(&out, doc); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Fuzz checks that any content ends in clean blocks or in one error that is not an internal one.
func Fuzz(t testing.TB, e extract.Extractor, format extract.Format, content []byte) {
	t.Helper()
	doc, err := Extract(t, e, format, content, extract.Limits{Characters: 100_000, Pages: 100})
	if err != nil {
		if got, ok := errors.AsType[*taskerr.Error](err); !ok || got.Class == taskerr.InternalBug {
			t.Fatalf("not a clear error: %v", err)
		}
		return
	}
	for _, b := range doc.Blocks {
		if strings.ContainsRune(b.Text, 0) || b.Text == "" && b.Table == nil {
			t.Fatalf("not a clean block: %+v", b)
		}
		if b.Kind == extract.Heading && (b.Level < 1 || b.Level > 6) {
			t.Fatalf("heading of level %d", b.Level)
		}
	}
	var out bytes.Buffer
	if err := extract.WriteMarkdown(&out, doc); err != nil {
		t.Fatal(err)
	}
	if limit := 1<<20 + 100*len(content); out.Len() > limit {
		t.Fatalf("%d bytes became %d of Markdown", len(content), out.Len())
	}
}

// IsClass reports whether an error is of a class.
func IsClass(err error, class taskerr.Class) bool {
	e, ok := errors.AsType[*taskerr.Error](err)
	return ok && e.Class == class
}
