package pdf_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf"
)

// TestMemoryOfALongDocument streams 2000 pages. The heap in use during the extraction stays that of a few
// pages.
func TestMemoryOfALongDocument(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 2000 pages; run it without -short")
	}
	m := &maker{}
	const pages = 2000
	for i := range pages {
		m.page()
		for l := range 15 {
			m.text(72, 80+13*float64(l), regular, 10,
				fmt.Sprintf("Line %d of page %d has some ten words of text in it, and no end", l, i))
		}
	}
	path := m.write(t)
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // whatever GOGC says
	*m = maker{}                                      // frees the pages of the maker
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var most uint64
	blocks := 0
	total := 0
	src := extract.Source{Path: path, Pages: func(n int) { total = n }}
	info, err := pdf.New().Extract(t.Context(), src, extract.Limits{}, func(extract.Block) error {
		if total != pages {
			t.Errorf("%d pages when the first block comes, want %d", total, pages)
		}
		if blocks++; blocks%100 == 0 {
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapInuse)
		}
		return nil
	})
	if err != nil || info.Pages != pages || blocks < pages {
		t.Fatalf("%+v, %d blocks, %v", info, blocks, err)
	}
	grown := int64(most) - int64(before.HeapInuse)
	t.Logf("%d pages, %d characters: heap grew by %d MB; peak of this process %s", info.Pages, info.Characters,
		grown>>20, peak())
	if grown > 48<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
}

// peak returns the peak resident size of the test process.
func peak() string {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(b)) {
		if rest, found := strings.CutPrefix(line, "VmHWM:"); found {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}
