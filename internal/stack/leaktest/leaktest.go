// Package leaktest ends the tests of a package with a search for goroutines that outlive them.
package leaktest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is for goroutines that are about to end. goleak alone waits for half a second, less than a busy machine takes
// to run each of them once more; some wait for a server that does not answer for half a minute, and again.
const patience = 3 * time.Minute

// Main runs the tests of a package, fails if goroutines are left, and ends the process:
//
//	func TestMain(m *testing.M) { leaktest.Main(m) }
func Main(m *testing.M, ignored ...goleak.Option) {
	code := m.Run()
	if code == 0 {
		if err := until(patience, func() error { return goleak.Find(ignored...) }); err != nil {
			fmt.Fprintln(os.Stderr, "after the tests:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// Find returns an error if goroutines are left. It is for stacktest.Main.
func Find() error { return until(patience, func() error { return goleak.Find() }) }

// until repeats a search, which waits itself, until it finds nothing or the time is over.
func until(limit time.Duration, search func() error) error {
	end := time.Now().Add(limit)
	for {
		if err := search(); err == nil || time.Now().After(end) {
			return err
		}
	}
}
