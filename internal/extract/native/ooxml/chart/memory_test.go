package chart_test

import (
	"runtime"
	"strings"
	"testing"
)

// TestLongTitles: a text in many pieces is read from its start, in time and memory that its length bounds.
func TestLongTitles(t *testing.T) { //nolint:paralleltest // it measures what the process allocates
	pieces := strings.Repeat(`<c:v>0123456789 </c:v>`, 10_000)
	paragraphs := strings.Repeat(`<a:p/>`, 40_000)
	for _, tt := range []struct{ what, chart string }{
		{"a title", `<c:title>` + pieces + paragraphs + `</c:title>` + ser("a", data("val", "1"))},
		{"a name", `<c:ser><c:tx>` + pieces + paragraphs + `</c:tx>` + data("val", "1") + `</c:ser>`},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, err := read(t, tt.chart)
		runtime.ReadMemStats(&after)
		if err != nil || !strings.Contains(got, "1\n") || len(got) > 33<<10 {
			t.Errorf("%s: got %d bytes, %v", tt.what, len(got), err)
		}
		if allocated := (after.TotalAlloc - before.TotalAlloc) >> 20; allocated > 64 {
			t.Errorf("%s: %d KB take %d MB", tt.what, len(tt.chart)>>10, allocated)
		}
	}
}
