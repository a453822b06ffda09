package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/seed-7227ef26/async-worker/test/prove/mutants"
)

// mutantTable counts how mutants were read, by format. It is safe for concurrent use.
type mutantTable struct {
	mu   sync.Mutex
	rows map[string]*mutantRow
}

type mutantRow struct {
	outcomes map[string]int
	bytes    int64
	times    []time.Duration // of CPU
	longest  time.Duration
	which    int // the number of the longest
	peak     int64
	children int64
}

func newMutantTable() *mutantTable { return &mutantTable{rows: map[string]*mutantRow{}} }

func (t *mutantTable) add(m mutant, r mutants.Reply, size int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	row := t.rows[m.format]
	if row == nil {
		row = &mutantRow{outcomes: map[string]int{}}
		t.rows[m.format] = row
	}
	row.outcomes[r.Outcome]++
	row.bytes += int64(size)
	row.times = append(row.times, r.CPU)
	if r.CPU > row.longest {
		row.longest, row.which = r.CPU, m.number
	}
	row.peak = max(row.peak, r.Peak)
	row.children = max(row.children, r.Children)
}

// print prints a line for each format.
func (t *mutantTable) print(r *report) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { _, _ = w.Write([]byte(strings.Join(cells, "\t") + "\n")) } // into memory
	line("format", "mutants", "MB", "read", "refused", "CPU", "p50", "p99", "most", "which", "memory", "of children",
		"how refused")
	for _, format := range slices.Sorted(maps.Keys(t.rows)) {
		row := t.rows[format]
		slices.Sort(row.times)
		n := len(row.times)
		r.add("inputs", n)
		line(format, strconv.Itoa(n), strconv.Itoa(int(row.bytes>>20)), strconv.Itoa(row.outcomes[mutants.Read]),
			strconv.Itoa(n-row.outcomes[mutants.Read]),
			row.total().Round(time.Second).String(), short(row.times[n/2]), short(row.times[n*99/100]),
			short(row.longest), strconv.Itoa(row.which), megabytes(row.peak), megabytes(row.children), row.refusals())
	}
	_ = w.Flush() // into memory
	for l := range strings.Lines(text.String()) {
		r.printf("%s", strings.TrimRight(l, "\n"))
	}
}

func (row *mutantRow) total() (sum time.Duration) {
	for _, t := range row.times {
		sum += t
	}
	return sum
}

func (row *mutantRow) refusals() string {
	var parts []string
	for _, outcome := range slices.Sorted(maps.Keys(row.outcomes)) {
		if outcome != mutants.Read {
			parts = append(parts, outcome+" "+strconv.Itoa(row.outcomes[outcome]))
		}
	}
	return strings.Join(parts, ", ")
}

func short(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }

func megabytes(n int64) string { return strconv.FormatInt(n>>20, 10) + " MB" }
