package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// proveModel compares each store with the reference by random sequences of all that can happen to a job.
func proveModel(ctx context.Context, o options, r *report) error {
	for _, store := range []struct {
		pkg    string
		checks int
	}{
		{"internal/store/memory", 100 * o.checks}, // a sequence costs it nothing
		{"internal/store/postgres", o.checks},
		{"internal/store/supabase", max(o.checks/4, 1)},
	} {
		if !o.wants("model/" + store.pkg) {
			continue
		}
		res, err := goTest(ctx, "-run", "^TestModel$", "-count", "1", "-timeout", "15m", "./"+store.pkg,
			"-rapid.checks", strconv.Itoa(store.checks), "-rapid.seed", strconv.FormatUint(o.seed, 10),
			"-rapid.nofailfile")
		if err != nil {
			return err
		}
		r.take("model", res)
		if len(res.failed()) == 0 && res.sums["sequences"] < store.checks {
			r.violated("model/"+store.pkg, []string{
				fmt.Sprintf("only %d sequences were run, want %d", res.sums["sequences"], store.checks),
			}, "")
		}
		r.add("sequences", res.sums["sequences"])
		r.printf("%-24s %6d sequences of about 30 steps, each step checked", store.pkg, res.sums["sequences"])
	}
	return nil
}

// suite is a conformance suite run against one back end.
type suite struct{ of, backEnd, pkg, test string }

// quick reports whether a short run has time for it: the slow ones are part of `make test` as well.
func (s suite) quick() bool { return s.of != "store" || s.pkg == "internal/store/memory" }

func suites() []suite {
	return []suite{
		{"queue", "Azure Storage Queues, on Azurite", "queue/azure", "TestConformance"},
		{"queue", "Azure's protocol, on a stub", "queue/azure/azurestub", "TestConformance"},
		{"queue", "memory", "queue/memory", "TestConformance"},
		{
			"store", "Postgres, in three ways of sending and a schema of its own", "internal/store/postgres",
			"TestConformance",
		},
		{"store", "PostgREST, with the tenant's key and the service's", "internal/store/supabase", "TestConformance"},
		{"store", "PostgREST on PGlite", "internal/store/supabase", "TestPGlite"},
		{"store", "memory (jobs)", "internal/store/memory", "TestConformance"},
		{"bucket", "Azure Blob Storage, on Azurite", "internal/blob/azure", "TestConformance"},
		{"bucket", "a folder", "internal/blob/dir", "TestConformance"},
	}
}

// proveConformance runs the suite of each interface against all of its back ends.
func proveConformance(ctx context.Context, o options, r *report) error {
	var asked []suite
	var pkgs []string
	for _, s := range suites() {
		if o.wants("conformance/"+s.pkg) && (s.quick() || !o.short) {
			asked = append(asked, s)
			pkgs = append(pkgs, "./"+s.pkg)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	slices.Sort(pkgs)
	res, err := goTest(ctx, append([]string{
		"-run", "^(TestConformance|TestPGlite)$", "-count", "1", "-timeout", "10m",
	}, slices.Compact(pkgs)...)...)
	if err != nil {
		return err
	}
	r.take("conformance", res)
	for _, s := range asked {
		n := res.passed(s.pkg, s.test+"/")
		r.printf("%-7s %-60s %3d tests", s.of, s.backEnd, n)
		if n == 0 {
			r.violated("conformance/"+s.pkg, []string{"no test of the suite was passed by " + s.backEnd}, "")
		}
	}
	return nil
}

// proveEvents kills the publisher of lifecycle events 50 times while the events of 2,000 jobs are written.
func proveEvents(ctx context.Context, o options, r *report) error {
	return proveTest(ctx, o, r, "events", "internal/events", "TestKilledPublishers",
		"a publisher killed 50 times, 2,000 jobs")
}

// proveCognee kills the worker that sends 500 documents and their next versions to a Cognee that fails.
func proveCognee(ctx context.Context, o options, r *report) error {
	return proveTest(ctx, o, r, "cognee", "internal/cognee", "TestKilledWorkers",
		"a worker killed 10 times, 500 documents")
}

// proveTest runs one test at its full size.
func proveTest(ctx context.Context, o options, r *report, kind, pkg, test, what string) error {
	if !o.wants(kind + "/" + pkg) {
		return nil
	}
	res, err := goTest(ctx, "-run", "^"+test+"$", "-count", "1", "-timeout", "30m", "./"+pkg)
	if err != nil {
		return err
	}
	r.take(kind, res)
	r.printf("%-24s %s", pkg, what)
	return nil
}

// proveFuzz lets each fuzz target look for inputs that break it. Such an input is kept under the package's
// testdata, and is a test case from then on.
func proveFuzz(ctx context.Context, o options, r *report) error {
	targets, err := fuzzTargets()
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, t := range targets {
		if !o.wants("fuzz/" + t.pkg + "/" + t.test) {
			continue
		}
		group.Go(func() error {
			res, err := goTest(ctx, "-run", "^$", "-fuzz", "^"+t.test+"$", "-fuzztime", o.fuzzTime.String(),
				"-fuzzminimizetime", "1x", "-parallel", "1", "./"+t.pkg)
			if err != nil {
				return err
			}
			res.forgive(endOfFuzzTime)
			r.take("fuzz", res)
			r.add("targets", 1)
			r.add("inputs", res.sums["execs"])
			r.printf("%-46s %9d inputs", t.pkg+" "+t.test, res.sums["execs"])
			return nil
		})
	}
	return group.Wait()
}

// endOfFuzzTime is the whole output of a target that was interrupted at the end of its time and found nothing. The
// go command reports it as a failure before Go 1.27: https://github.com/golang/go/issues/75804
const endOfFuzzTime = "    context deadline exceeded\n"

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z0-9_]+)\(`)

// fuzzTargets finds all fuzz targets of the project.
func fuzzTargets() (targets []testName, err error) {
	err = testFiles(func(pkg, text string) {
		for _, m := range fuzzTarget.FindAllStringSubmatch(text, -1) {
			targets = append(targets, testName{pkg, m[1]})
		}
	})
	return targets, err
}

// testFiles calls look with the text of each test file and its package's folder.
func testFiles(look func(pkg, text string)) error {
	root, err := stack.Root()
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		look(filepath.ToSlash(pkg), string(text))
		return err
	})
}

func quick(pkg string) bool {
	return slices.Contains([]string{"webhook", "internal/llm/openai"}, pkg)
}

var leakCheck = regexp.MustCompile(`leaktest\.(Find|Main)\b`)

// proveRace runs the tests of every package that checks for leaked goroutines with the race detector, twice, in
// random orders; a short run does a few of them, once. test/architecture checks that these are all packages with
// goroutines, and that no test sleeps.
func proveRace(ctx context.Context, o options, r *report) error {
	pkgs, times := []string{"./test/architecture"}, "2"
	if o.short {
		times = "1"
	}
	if err := testFiles(func(pkg, text string) {
		if pkg != "test/prove" && leakCheck.MatchString(text) && o.wants("race/"+pkg) && (!o.short || quick(pkg)) {
			pkgs = append(pkgs, "./"+pkg)
		}
	}); err != nil {
		return err
	}
	res, err := goTest(ctx, append([]string{
		"-race", "-count", times, "-shuffle", strconv.FormatUint(o.seed, 10), "-timeout", "60m", "-p", "2",
	}, pkgs...)...)
	if err != nil {
		return err
	}
	r.take("race", res)
	r.add("packages", len(pkgs))
	return nil
}

// spread prints the percentiles of times, and returns the 99th. There is at least one time.
func (r *report) spread(what string, took []time.Duration) (p99 time.Duration) {
	slices.Sort(took)
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	p99 = took[len(took)*99/100]
	r.printf("%s (%d): p50 %v, p99 %v, longest %v", what, len(took), ms(took[len(took)/2]), ms(p99),
		ms(took[len(took)-1]))
	return p99
}
