package app

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Dropped pages come back when they are needed: the program works on, with less of its file in memory.
func TestTrim(t *testing.T) {
	touch(t)
	before := resident(t, "RssFile:")
	for i := range 3 {
		if err := trimProgram(); err != nil {
			t.Fatal(err)
		}
		if after := resident(t, "RssFile:"); i == 0 && after >= before {
			t.Errorf("%d kB of files were in memory before, %d are after", before, after)
		}
	}
}

// Both the code and the constants of the program are dropped: each alone is most of what a worker has of its file.
func TestTrimDropsCodeAndConstants(t *testing.T) {
	touch(t)
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer smaps.Close()
	found, err := unwritten(smaps, exe)
	if err != nil {
		t.Fatal(err)
	}
	size := uint64(0)
	for _, m := range found {
		size += m.end - m.first
	}
	before := resident(t, "RssFile:")
	if err := trimProgram(); err != nil {
		t.Fatal(err)
	}
	gone := before - resident(t, "RssFile:")
	t.Logf("%d kB of files in memory before, %d kB of %d dropped", before, gone, size>>10)
	if len(found) < 2 {
		t.Errorf("%d mappings equal the file, want its code and its constants", len(found))
	}
	if gone < int(size>>10)/4 {
		t.Errorf("%d kB are gone of %d that equal the file", gone, size>>10)
	}
}

// What the dynamic linker or the program wrote is kept: dropping it would bring back what the file has.
func TestUnwritten(t *testing.T) {
	const smaps = `00400000-01aa0000 r-xp 00000000 fe:00 42                                 /usr/bin/worker
Size:              23168 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01aa0000-03e51000 r--p 016a0000 fe:00 42                                 /usr/bin/worker
Anonymous:             0 kB
03e51000-03e60000 r--p 03a51000 fe:00 42                                 /usr/bin/worker
Rss:                  60 kB
Anonymous:             8 kB
03e60000-0408b000 rw-p 03a60000 fe:00 42                                 /usr/bin/worker
Anonymous:             0 kB
0408b000-060dc000 rw-p 00000000 00:00 0 
Anonymous:             0 kB
7f010082d000-7f0100983000 r-xp 00026000 fe:00 43                         /usr/lib/libc.so.6
Anonymous:             0 kB
`
	got, err := unwritten(strings.NewReader(smaps), "/usr/bin/worker")
	want := []mapping{{0x400000, 0x1aa0000}, {0x1aa0000, 0x3e51000}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %x, %v, want %x", got, err, want)
	}
}

// touch loads the program's code and constants into memory: an earlier test may have dropped them.
func touch(t *testing.T) {
	t.Helper()
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
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
		if !strings.Contains(line, " r-xp ") && !strings.Contains(line, " r--p ") || !strings.Contains(line, exe) {
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
