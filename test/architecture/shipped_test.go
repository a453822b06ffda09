package architecture_test

import (
	"slices"
	"testing"
)

// TestShipped keeps out of the daemon's program what only a source tree needs, by whatever path it would come in.
func TestShipped(t *testing.T) {
	t.Parallel()
	graph := imports(t)
	if path := pathTo(graph, module+"/cmd/async-worker", unshipped()); path != nil {
		t.Errorf("the daemon's program imports %s: %v.\n\tMove what needs it to cmd/async-worker-dev or "+
			"packaging/manual", path[len(path)-1], path)
	}
	for from, pattern := range map[string]string{ // the search finds what is there
		"cmd/async-worker-dev": module + "/internal/stack/...",
		"packaging/manual":     "github.com/cpuguy83/go-md2man/...",
	} {
		if pathTo(graph, module+"/"+from, []string{pattern}) == nil {
			t.Errorf("no path leads from %s to %s: the search is broken, or the rule is of no use", from, pattern)
		}
	}
}

// TestShippedZones: the daemon's program has the database of time zones, which not every machine has.
func TestShippedZones(t *testing.T) {
	t.Parallel()
	if pathTo(imports(t), module+"/cmd/async-worker", []string{"time/tzdata"}) == nil {
		t.Error("the daemon's program does not import time/tzdata: a worker on a machine without the database of time " +
			"zones pauses the schedules of all workers that name one")
	}
}

// imports are those of each package of ours, tests apart.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	graph := map[string][]string{}
	for _, f := range sources(t) {
		if !f.test {
			pkg := module + "/" + f.pkg
			graph[pkg] = append(graph[pkg], f.imports...)
		}
	}
	return graph
}

// pathTo returns a shortest chain of imports to a package that matches a pattern; nil: there is none.
func pathTo(graph map[string][]string, from string, patterns []string) []string {
	seen := map[string]bool{from: true}
	for queue := [][]string{{from}}; len(queue) > 0; queue = queue[1:] {
		path := queue[0]
		last := path[len(path)-1]
		if slices.ContainsFunc(patterns, func(pattern string) bool { return under(last, pattern) }) {
			return path
		}
		for _, to := range graph[last] {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, append(slices.Clone(path), to))
			}
		}
	}
	return nil
}
