package pdf_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
	"github.com/seed-7227ef26/async-worker/test/corpus"
)

// BenchmarkExtract reads born-digital documents and reports the processor time of a page: that of the worker and that
// of poppler's programs.
func BenchmarkExtract(b *testing.B) {
	dir := filepath.Join("..", "..", "..", "..", "..", "shared", "corpus", "documents")
	if _, err := os.Stat(dir); err != nil {
		b.Skip(corpus.Missing)
	}
	for _, name := range []string{"geotopo", "multi_page", "normal_4pages", "pdflatex-4-pages", "2305.03393v1-pg9"} {
		b.Run(name, func(b *testing.B) {
			pages := 0
			own, children := processorTime(b, syscall.RUSAGE_SELF), processorTime(b, syscall.RUSAGE_CHILDREN)
			for b.Loop() {
				doc, err := extract.Collect(b.Context(), pdf.New(),
					extract.Source{Path: filepath.Join(dir, name+".pdf"), Format: extract.PDF}, extract.Limits{})
				if err != nil {
					b.Fatal(err)
				}
				pages += doc.Pages
			}
			perPage := func(from, to int64) float64 { return float64(to-from) / 1e6 / float64(pages) }
			b.ReportMetric(perPage(own, processorTime(b, syscall.RUSAGE_SELF)), "own-ms/page")
			b.ReportMetric(perPage(children, processorTime(b, syscall.RUSAGE_CHILDREN)), "children-ms/page")
		})
	}
}

// processorTime returns the processor time in nanoseconds that this process, or its ended children, took so far.
func processorTime(b *testing.B, of int) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(of, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
