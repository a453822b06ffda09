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

// testLargeLetters: a page of dead letters with large messages ends early and says so, in either order, and the next one goes
// on after it. Without the messages, all are on one page.
func testLargeLetters(t *testing.T, b *bench) {
	var ids []string
	for range 20 {
		_, id := b.letter(func(m *store.Begin) { m.Original = strings.Repeat("tide", 75<<10) })
		ids = append(ids, id)
	}
	newest := slices.Clone(ids)
	slices.Reverse(newest)
	for _, c := range []struct {
		filter store.DeadLetterFilter
		pages  int
		want   []string
	}{
		{store.DeadLetterFilter{}, 3, newest}, // of 7 letters, and the rest
		{store.DeadLetterFilter{Oldest: true}, 3, ids},
		{store.DeadLetterFilter{Bytes: 1 << 30}, 3, newest},
		{store.DeadLetterFilter{Bytes: 1}, 20, newest},
		{store.DeadLetterFilter{Brief: true}, 1, newest},
	} {
		c.filter.Limit = 100
		if all := b.walk(c.filter, c.pages); !slices.Equal(all, c.want) {
			t.Errorf("%+v: the pages have %v, want %v", c.filter, all, c.want)
		}
	}
}

// walk reads a list of dead letters page by page, as many as are wanted, and returns their ids.
func (b *bench) walk(f store.DeadLetterFilter, pages int) []string {
	b.t.Helper()
	var ids []string
	for n := range pages {
		page, err := b.DeadLetters(b.ctx(), f)
		if err != nil {
			b.t.Fatal(err)
		}
		size := 0
		for i, d := range page {
			ids = append(ids, d.ID)
			if size += len(d.Original); f.Brief != (d.Original == "") || d.More && i < len(page)-1 {
				b.t.Fatalf("%+v: letter %d has a message of %d bytes, more: %v", f, i, len(d.Original), d.More)
			}
		}
		if len(page) == 0 || size > 2<<20+300<<10 || page[len(page)-1].More != (n < pages-1) {
			b.t.Fatalf("%+v: page %d of %d has %d letters of %d bytes", f, n+1, pages, len(page), size)
		}
		f.After = page[len(page)-1].Cursor()
	}
	return ids
}
