package pdf_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/child"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nativetest"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// tooLittle is memory in which poppler's programs can't even load their libraries. One MiB is enough for a small page.
const tooLittle = 768 << 10

// TestPageThatNeedsMuchMemory: pages that exceed their share of the pool are read again alone with a larger
// one, but only a few per document; afterwards the pool is fully free.
func TestPageThatNeedsMuchMemory(t *testing.T) {
	t.Parallel()
	for pages, class := range map[int]taskerr.Class{3: "", 4: taskerr.CorruptionDetected} {
		m := &maker{}
		for i := range pages {
			m.page().text(72, 80, regular, 10, fmt.Sprintf("Page %d", i+1))
		}
		pool := child.NewPool(768 << 20)
		limits := extract.Limits{Pool: pool, ChildBytes: tooLittle}
		doc, err := extract.Collect(t.Context(), pdf.New(), extract.Source{Path: m.write(t), Format: extract.PDF},
			limits)
		if classOf(err) != class || class == "" && (err != nil || len(doc.Blocks) != pages) {
			t.Errorf("%d pages: %d blocks, %v", pages, len(doc.Blocks), err)
		}
		if err != nil && !strings.Contains(err.Error(), "too much memory") {
			t.Errorf("the error doesn't state the reason: %v", err)
		}
		if pool.Most() < pool.Largest(child.Step) {
			t.Errorf("%d MB were taken at most", pool.Most()>>20)
		}
		if _, _, err := pool.Take(t.Context(), child.Step, pool.Largest(child.Step)); err != nil {
			t.Error(err)
		}
	}
}

// TestPageThatTakesForEver: such a page doesn't fail the document.
func TestPageThatTakesForEver(t *testing.T) {
	t.Parallel()
	src := extract.Source{Path: nativetest.Stalling(t, "Before", "After"), Format: extract.PDF}
	var doc *extract.Document
	for try := range 3 { // another page may take that long on a busy machine
		var err error
		doc, err = extract.Collect(t.Context(), pdf.New(), src, extract.Limits{PageTime: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if doc.Properties["pages_unreadable"] == "2" {
			break
		}
		t.Logf("try %d: page %s was given up", try+1, doc.Properties["pages_unreadable"])
	}
	if len(doc.Blocks) != 2 || doc.Blocks[0].Text != "Before" || doc.Blocks[1].Text != "After" ||
		doc.Properties["pages_unreadable"] != "2" {
		t.Errorf("%+v, page %s was given up", doc.Blocks, doc.Properties["pages_unreadable"])
	}
}

// TestCancelEndsALayout: the layout of a page stops when its task has ended.
func TestCancelEndsALayout(t *testing.T) {
	t.Parallel()
	m := (&maker{}).page()
	for i := range 20 {
		m.text(72, 40+35*float64(i), regular, 10, "A paragraph of its own.")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the task was canceled")
	blocks := 0
	_, err := pdf.New().Extract(ctx, extract.Source{Path: m.write(t)}, extract.Limits{}, func(extract.Block) error {
		blocks++
		cancel(stop)
		return nil
	})
	if !errors.Is(err, stop) || blocks != 1 {
		t.Errorf("%d blocks, %v", blocks, err)
	}
}

// TestPagesWithoutStyles: pages are reported when pdftohtml dies, if only it knows their styles.
func TestPagesWithoutStyles(t *testing.T) {
	bin := t.TempDir()
	script := `#!/bin/sh
echo '<page number="1" position="absolute" top="0" left="0" height="2526" width="1785"></page>'
kill -SEGV $$
`
	if err := os.WriteFile(filepath.Join(bin, "pdftohtml"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	m := &maker{}
	for range 3 {
		m.page().text(72, 80, light, 10, "A page of text.") // whose widths the file doesn't tell
	}
	doc, err := collect(t, m.write(t))
	if err != nil || len(doc.Blocks) != 3 {
		t.Fatalf("%+v %v", doc, err)
	}
	if len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "page 2-3 ") ||
		!strings.Contains(doc.Warnings[0], "crashed") {
		t.Errorf("warnings: %q", doc.Warnings)
	}
}
