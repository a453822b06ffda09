package flow_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/flow"
)

// TestManyLinesOfCode: each line of code costs the same, however many there are.
func TestManyLinesOfCode(t *testing.T) { // not parallel: what is allocated is counted
	perLine := func(lines int) uint64 {
		var text string
		w := flow.New(func(b extract.Block) error {
			text = b.Text
			return nil
		}, 1<<20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range lines {
			if err := w.Block(extract.Block{Kind: extract.Code, Text: "ferry(name)"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if want := strings.Repeat("ferry(name)\n", lines-1) + "ferry(name)"; text != want {
			t.Fatalf("got %d bytes of %d", len(text), len(want))
		}
		return (after.TotalAlloc - before.TotalAlloc) / uint64(lines)
	}
	if few, many := perLine(1000), perLine(8000); many > 2*few {
		t.Errorf("%d bytes for each of few lines, %d for each of many", few, many)
	}
}
