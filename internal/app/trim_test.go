package app

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// Dropped pages come back when they are needed: the program works on, with less of its file in memory.
func TestTrim(t *testing.T) {
	touch(t)
	before := resident(t, "RssFile:")
	for i := range 3 {
		if err := trim(); err != nil {
			t.Fatal(err)
		}
		if after := resident(t, "RssFile:"); i == 0 && after >= before {
			t.Errorf("%d kB of files were in memory before, %d are after", before, after)
		}
	}
}

// touch loads all of the program's code into memory: an earlier test may have dropped it.
func touch(t *testing.T) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		var first, end int64
		if !strings.Contains(line, " r-xp ") || !strings.Contains(line, ".test") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &first, &end); err != nil {
			t.Fatal(err)
		}
		if _, err := memory.ReadAt(make([]byte, end-first), first); err != nil {
			t.Fatal(err)
		}
	}
	if err := memory.Close(); err != nil {
		t.Fatal(err)
	}
}
