package storetest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// testLargeJobs: a page of large jobs ends early, whatever room their rows take, and the next page has the rest.
func testLargeJobs(t *testing.T, b *bench) {
	var want []string
	for range 3 {
		m, _ := b.run(func(m *store.Begin) { // it is some KiB in the table, which compresses it
			m.Payload = json.RawMessage(`{"filename":"a.pdf","metadata":{"text":"` + strings.Repeat("tide", 256<<10) + `"}}`)
		})
		want = append(want, m.JobID)
	}
	slices.Reverse(want)
	for bytes, pages := range map[int]int{0: 2, 1: 3, 1 << 30: 2} {
		var got []string
		q := store.JobQuery{Limit: 10, Most: 100, Bytes: bytes}
		for n := range pages {
			found, err := b.FindJobs(b.ctx(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range found.Jobs {
				got = append(got, j.ID)
			}
			if q.After = found.Last; (q.After == nil) != (n == pages-1) || found.Looked != len(found.Jobs) {
				t.Fatalf("page %d of %d has %d jobs, looked at %d, and goes on after %v", n, pages, len(found.Jobs), found.Looked,
					found.Last)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d bytes: the pages have %v, want %v", bytes, got, want)
		}
	}
}
