package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/test/corpus"
)

func classOf(err error) taskerr.Class {
	if e, ok := errors.AsType[*taskerr.Error](err); ok {
		return e.Class
	}
	return ""
}

func TestFailures(t *testing.T) {
	t.Parallel()
	long := &maker{}
	for range 5 {
		long.page().text(72, 80, regular, 10, "A page of text.")
	}
	whole := long.bytes()
	endless, err := os.ReadFile(nativetest.Stalling(t, "Before", "After"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		content []byte
		limits  extract.Limits
		class   taskerr.Class
	}{
		"no PDF":              {[]byte("hello"), extract.Limits{}, taskerr.CorruptionDetected},
		"empty":               {nil, extract.Limits{}, taskerr.CorruptionDetected},
		"only a head":         {[]byte("%PDF-1.7\n"), extract.Limits{}, taskerr.CorruptionDetected},
		"no pages":            {(&maker{}).bytes(), extract.Limits{}, taskerr.CorruptionDetected},
		"too many pages":      {whole, extract.Limits{Pages: 4}, taskerr.QuotaExceeded},
		"too many characters": {whole, extract.Limits{Characters: 20}, taskerr.QuotaExceeded},
		"too large":           {whole, extract.Limits{Bytes: 100}, taskerr.QuotaExceeded},
		"no memory":           {whole, extract.Limits{ChildBytes: tooLittle}, taskerr.CorruptionDetected},
		"no time":             {endless, extract.Limits{Time: time.Second}, taskerr.CorruptionDetected},
		"as it should be":     {whole, extract.Limits{}, ""},
		"its end cut off":     {whole[:len(whole)-20], extract.Limits{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.pdf")
			if err := os.WriteFile(path, tt.content, 0o600); err != nil {
				t.Fatal(err)
			}
			src := extract.Source{Path: path, Format: extract.PDF, Size: int64(len(tt.content))}
			doc, err := extract.Collect(t.Context(), pdf.New(), src, tt.limits)
			if classOf(err) != tt.class {
				t.Fatalf("got %v, want class %q", err, tt.class)
			}
			if tt.class == "" && len(doc.Blocks) == 0 {
				t.Error("no blocks")
			}
		})
	}
}

func TestErrorOfEmitEndsIt(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page().text(72, 80, regular, 10, "One.").page().text(72, 80, regular, 10, "Two.")
	stop := errors.New("enough")
	_, err := pdf.New().Extract(t.Context(), extract.Source{Path: m.write(t)}, extract.Limits{},
		func(extract.Block) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestCancelEndsIt(t *testing.T) {
	t.Parallel()
	m := &maker{}
	for i := range 300 {
		m.page().text(72, 80, regular, 10, fmt.Sprintf("Sentence %d ends here.", i))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the task was canceled")
	_, err := pdf.New().Extract(ctx, extract.Source{Path: m.write(t)}, extract.Limits{}, func(extract.Block) error {
		cancel(stop)
		return nil
	})
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

// The first blocks are emitted long before the last page is read: while emit blocks, no more than the window
// and the pipe buffers can have been read.
func TestBlocksAreEmittedWhileReading(t *testing.T) {
	t.Parallel()
	m := &maker{}
	const pages = 250
	for i := range pages {
		m.page().text(72, 80, regular, 10, fmt.Sprintf("Sentence %c%c ends here.", 'a'+i/26, 'a'+i%26))
	}
	path := m.write(t)
	seen := 0
	_, err := pdf.New().Extract(t.Context(), extract.Source{Path: path}, extract.Limits{}, func(b extract.Block) error {
		if seen++; seen == 1 {
			// Poppler reopens the file for each range of pages, so the later ranges fail now.
			return os.WriteFile(path, bytes.Repeat([]byte("x"), 1000), 0o600)
		}
		return nil
	})
	if seen == 0 || classOf(err) != taskerr.CorruptionDetected {
		t.Errorf("%d blocks, %v", seen, err)
	}
}

func TestEachHostileFileEndsInAResultOrOneClearError(t *testing.T) {
	t.Parallel()
	for _, file := range corpus.Hostile(t) {
		if filepath.Ext(file) != ".pdf" {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			doc, err := extract.Collect(ctx, pdf.New(), extract.Source{Path: file}, extract.Limits{})
			if err != nil {
				t.Log(err)
				want := taskerr.CorruptionDetected
				if filepath.Base(file) == "password.pdf" {
					want = taskerr.UnsupportedFormat
				}
				if classOf(err) != want {
					t.Errorf("class %q, want %q", classOf(err), want)
				}
				return
			}
			t.Logf("%d pages, %d blocks, %d characters", doc.Pages, len(doc.Blocks), doc.Characters)
		})
	}
}

func TestScansOfTheCorpusHaveNoText(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ocr_test.pdf", "ocr_test_rotated_90.pdf"} {
		doc, err := collect(t, thirdParty(t, "documents", name))
		if err != nil || len(doc.Blocks) != 0 || doc.Properties["text_pages"] != "0" || doc.Pages != 1 {
			t.Errorf("%s: %+v %v", name, doc, err)
		}
	}
}

// TestMissingPage: a page that the document counts and does not have repeats no other page, and is named.
func TestMissingPage(t *testing.T) {
	t.Parallel()
	m := &maker{}
	m.page().text(72, 80, regular, 10, "The first page of text.")
	m.page().text(72, 80, regular, 10, "The second page of text.")
	for _, kids := range []string{"99 0 R 10 0 R 12 0 R", "10 0 R 99 0 R 12 0 R", "10 0 R 12 0 R 99 0 R"} {
		content := bytes.Replace(m.bytes(), []byte("/Count 2 /Kids [10 0 R 12 0 R "), []byte("/Count 3 /Kids ["+kids), 1)
		doc, err := nativetest.Extract(t, pdf.New(), extract.PDF, content, extract.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"paragraph The first page of text.", "paragraph The second page of text."}
		if got := blocksOf(doc); !slices.Equal(got, want) ||
			!strings.Contains(strings.Join(doc.Info.Warnings, "; "), "page 3 is missing in the file") {
			t.Errorf("%s: %q, warnings: %q", kids, got, doc.Info.Warnings)
		}
	}
}
