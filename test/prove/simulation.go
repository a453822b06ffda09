package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// simulationTime bounds a simulation whose schedules don't end.
const simulationTime = 30 * time.Minute

// simulated is the summary of test/simulation.
type simulated struct {
	Schedules  int            `json:"schedules"`
	Hours      int            `json:"virtual_hours"`
	Calls      int            `json:"calls"`
	Faults     map[string]int `json:"faults"`
	Ended      map[string]int `json:"ended"`
	Violations []struct {
		Seed  uint64 `json:"seed"`
		What  string `json:"what"`
		Story string `json:"story"`
	} `json:"violations"`
}

// simulation runs engines on in-memory back ends in virtual time, in a process of go test: only a test may use a
// bubble of testing/synctest.
func simulation(ctx context.Context, o options, r *report) (err error) {
	dir, err := stack.NewTempDir("", "async-worker-simulation-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Remove()) }()
	s, err := simulate(ctx, o, filepath.Join(dir.Path, "summary.json"))
	if err != nil {
		return err
	}
	for range s.Schedules {
		r.ran()
	}
	r.add("virtual hours", s.Hours)
	r.add("calls", s.Calls)
	for _, counts := range []map[string]int{s.Faults, s.Ended} {
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			r.add(name, counts[name])
		}
	}
	for _, v := range s.Violations {
		r.violated(fmt.Sprintf("seed-%d", v.Seed), []string{v.What}, v.Story)
		r.printf("again: go test ./test/simulation -run TestSchedules -schedules 1 -count 20 -seed %d", v.Seed)
	}
	return nil
}

// simulate runs the test. The summary has all results; without a summary the run is broken.
func simulate(ctx context.Context, o options, file string) (s simulated, err error) {
	p, err := runGoTest(ctx, nil, "./test/simulation", "-run", "^TestSchedules$", "-count", "1", "-timeout",
		simulationTime.String(),
		"-schedules", strconv.Itoa(o.schedules), "-seed", strconv.FormatUint(o.seed, 10), "-summary", file)
	if err != nil {
		return s, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return s, fmt.Errorf("go test ./test/simulation wrote no summary: %w\n%s", errors.Join(p.Err(), err), p.Tail())
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read the summary of the simulation: %w", err)
	}
	return s, nil
}
