package simulation

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
)

var (
	howMany   = flag.Int("schedules", 120, "how many schedules are simulated")
	firstSeed = flag.Uint64("seed", 1, "seed of the first schedule; the next one has the next seed")
	summary   = flag.String("summary", "", "file for a summary in JSON")
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // most of the heap is short-lived
	leaktest.Main(m)
}

// tally counts over all schedules. Its JSON is written by the flag -summary.
type tally struct {
	mu         sync.Mutex
	virtual    time.Duration
	longest    time.Duration // from the end of the faults to the end of the last job
	faults     map[string]int
	ended      map[string]int
	Schedules  int            `json:"schedules"`
	Hours      int            `json:"virtual_hours"`
	Calls      int            `json:"calls"`
	Faults     map[string]int `json:"faults"` // by sort
	Ended      map[string]int `json:"ended"`  // series of jobs by their end, and rejected messages
	Violations []failure      `json:"violations"`
}

// failure is a schedule that broke a rule.
type failure struct {
	Seed  uint64 `json:"seed"`
	What  string `json:"what"`
	Story string `json:"story"`
}

func newTally() *tally { return &tally{faults: map[string]int{}, ended: map[string]int{}} }

func (t *tally) add(to *map[string]int, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	(*to)[name]++
}

func (t *tally) calmed(after time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.longest = max(t.longest, after)
}

// TestSchedules simulates schedules on all processors. A failing seed can be run again alone.
func TestSchedules(t *testing.T) {
	total, began := newTally(), time.Now()
	var next atomic.Uint64
	t.Run("on", func(t *testing.T) {
		for range runtime.GOMAXPROCS(0) {
			t.Run("processor", func(t *testing.T) {
				t.Parallel()
				for i := next.Add(1); i <= uint64(*howMany); i = next.Add(1) {
					simulate(t, *firstSeed+i-1, total, nil)
				}
			})
		}
	})
	for _, v := range total.Violations {
		t.Errorf("seed %d: %s\n%s", v.Seed, v.What, v.Story)
	}
	total.Hours, total.Faults, total.Ended = int(total.virtual.Hours()), total.faults, total.ended
	t.Logf("%d schedules, %d virtual hours, %d calls in %v; %d violations", total.Schedules, total.Hours, total.Calls,
		time.Since(began).Round(time.Millisecond), len(total.Violations))
	t.Logf("the last job of a schedule ended at most %v after the faults", total.longest.Round(time.Minute))
	t.Logf("faults: %s", listed(total.Faults))
	t.Logf("ended: %s", listed(total.Ended))
	if *summary != "" {
		if err := os.WriteFile(*summary, must(json.Marshal(total)), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// simulate runs the schedule of a seed in a bubble. spoil, unless nil, breaks something first.
func simulate(t *testing.T, seed uint64, total *tally, spoil func(*world)) (found []finding) {
	t.Helper()
	var w *world
	defer func() {
		if p := recover(); p != nil { // all goroutines of a bubble wait for ever, or one has leaked
			w.violated("", "%v", p)
		}
		if found = w.found; len(found) > 0 {
			total.mu.Lock()
			defer total.mu.Unlock()
			total.Violations = append(total.Violations, failure{seed, found[0].what, w.story()})
		}
	}()
	p := newPlan(seed)
	synctest.Test(t, func(*testing.T) {
		w = newWorld(seed, p, total)
		if spoil != nil {
			spoil(w)
		}
		w.run()
	})
	return nil
}

func listed(counts map[string]int) string {
	parts := make([]string, 0, len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(parts, ", ")
}
