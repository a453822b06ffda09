package e2e

import (
	"cmp"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

func TestMain(m *testing.M) {
	stacktest.AtATime(4)
	stacktest.Main(m, leaktest.Find)
}

// patience ends a test that hangs. It is long, since the tour of async-worker-dev takes minutes on a busy machine.
const patience = 15 * time.Minute

// raced has the race detector if the tests have it; plain never does.
var raced, plain stacktest.Program

// program is the file of async-worker, built once, with the race detector if the tests have it.
func program() (string, error) {
	if !isRaced() {
		return plainProgram()
	}
	return raced.Build(strings.Fields(cmp.Or(os.Getenv("RACE_FLAGS"), "-race")), "./cmd/async-worker") // see .ci/tests
}

// plainProgram is that without the race detector, under which reading hundreds of pages takes ten times as long; beside
// it is async-worker-dev.
func plainProgram() (string, error) {
	return plain.Build(nil, "./cmd/async-worker", "./cmd/async-worker-dev")
}

// built waits for a build: it takes minutes on a busy machine, and what is measured begins after it.
func built(t *testing.T, program func() (string, error)) {
	t.Helper()
	if _, err := program(); err != nil {
		t.Fatal(err)
	}
}

// isRaced reports whether the tests have the race detector.
func isRaced() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}
