package app

import "testing"

// What is dropped comes back when it is needed: the program goes on, with less of its file in memory.
func TestTrim(t *testing.T) {
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
