package app

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// What is dropped comes back when it is needed: the program goes on, with less of its file in memory.
func TestTrim(t *testing.T) {
	before := residentFile(t)
	for i := range 3 {
		if err := trim(); err != nil {
			t.Fatal(err)
		}
		if after := residentFile(t); i == 0 && after >= before {
			t.Errorf("%d kB of files were in memory before, %d are after", before, after)
		}
	}
}

// residentFile reads RssFile, in kB, of proc_pid_status(5).
func residentFile(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "RssFile:"); ok {
			kB, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				t.Fatal(err)
			}
			return kB
		}
	}
	t.Skip("this kernel does not tell RssFile")
	return 0
}
