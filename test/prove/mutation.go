package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/test/prove/sabotage"
)

// mutation removes the lines that hold the invariants, one at a time, and checks that the tests which
// RELIABILITY.md names fail.
func mutation(ctx context.Context, o options, r *report) error {
	root, err := stack.Root()
	if err != nil {
		return err
	}
	list := slices.DeleteFunc(sabotage.All(), func(s sabotage.Sabotage) bool { return !o.wants("mutation/" + s.Name) })
	if err := cleanSuites(ctx, root, list); err != nil {
		return err
	}
	results := make([]sabotage.Result, len(list))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(min(o.parallel, 2)) // each builds, and runs tests that are parallel themselves
	for i, s := range list {
		group.Go(func() (err error) {
			if results[i], err = sabotage.Run(ctx, root, s); err != nil {
				return fmt.Errorf("mutation/%s: %w", s.Name, err)
			}
			r.ran()
			r.violated("mutation/"+s.Name, results[i].Wrong, results[i].Output)
			if len(results[i].Wrong) == 0 {
				r.add("caught", 1)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	printResults(list, results, r)
	return nil
}

// cleanSuites checks that the tests pass while nothing is removed.
func cleanSuites(ctx context.Context, root string, list []sabotage.Sabotage) error {
	seen := map[string]bool{}
	for _, s := range list {
		for _, suite := range s.Suites {
			key := suite.Package + " " + suite.Run
			if seen[key] {
				continue
			}
			seen[key] = true
			failed, err := sabotage.Clean(ctx, root, suite)
			if err == nil && len(failed) > 0 {
				err = fmt.Errorf("%s fails with nothing removed: %s", suite.Package, strings.Join(failed, ", "))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// printResults prints the result of each sabotage.
func printResults(list []sabotage.Sabotage, results []sabotage.Result, r *report) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "sabotage\tbreaks\tseconds\tcaught by")
	for i, s := range list {
		const most = 3
		var by []string
		for _, f := range results[i].Failed {
			by = append(by, strings.TrimPrefix(strings.Replace(f, "TestConformance/prepared_statements/", "", 1),
				"internal/"))
		}
		if more := len(by) - most; more > 0 {
			by = append(by[:most], fmt.Sprintf("and %d more", more))
		}
		fmt.Fprintf(w, "%s\t%s\t%.1f\t%s\n", s.Name, strings.Join(s.Breaks, " "), results[i].Took.Seconds(),
			strings.Join(by, ", "))
	}
	_ = w.Flush() // into memory
	for line := range strings.Lines(table.String()) {
		r.printf("%s", strings.TrimRight(line, "\n"))
	}
}
