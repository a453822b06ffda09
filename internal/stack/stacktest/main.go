// Package stacktest gives tests real back ends: one private server per test process, started by the
// first test that needs it and stopped after the last one by Main.
package stacktest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// cleanups are the servers of this test process. They outlive every single test, which is why they
// can't hang on a testing.T; Main empties the list.
var cleanups struct {
	mu    sync.Mutex
	funcs []func() error
}

// atExit registers f to be called by Main after the last test, in reverse order.
func atExit(f func() error) {
	cleanups.mu.Lock()
	defer cleanups.mu.Unlock()
	cleanups.funcs = append(cleanups.funcs, f)
}

// Main runs the tests of a package, stops the servers that they shared, and ends the process:
//
//	func TestMain(m *testing.M) { stacktest.Main(m) }
//
// The checks run after that, e.g. leaktest.Find; an error of one makes a run that passed fail.
func Main(m *testing.M, checks ...func() error) {
	code := m.Run()
	for _, check := range append([]func() error{stopAll}, checks...) {
		if err := check(); err != nil {
			fmt.Fprintln(os.Stderr, "after the tests:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// AtATime sets how many parallel tests run side by side, unless -parallel says so; by default it is the number of
// processors, too few where tests wait for programs rather than calculate. It is called before the tests run.
func AtATime(tests int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(max(tests, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err) // package testing has another name for it
	}
}

func stopAll() error {
	cleanups.mu.Lock()
	defer cleanups.mu.Unlock()
	var first error
	for _, f := range slices.Backward(cleanups.funcs) {
		if err := f(); err != nil && first == nil {
			first = err
		}
	}
	cleanups.funcs = nil
	return first
}
