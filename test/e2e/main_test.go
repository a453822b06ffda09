package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

func TestMain(m *testing.M) {
	stacktest.AtATime(4)
	stacktest.Main(m, removePrograms, func() error { return goleak.Find() })
}

// patience bounds what a test waits for, the build of the programs among it: that alone took two minutes on a machine with
// two processors and a load of 20.
const patience = 6 * time.Minute

// programs are built by the first test that needs them.
type programs struct {
	once      sync.Once
	dir, file string
	err       error
}

// raced has the race detector if the tests have it; plain never does.
var raced, plain programs

// program is the file of async-worker, built once, with the race detector if the tests have it.
func program() (string, error) {
	if !isRaced() {
		return plainProgram()
	}
	return raced.build(strings.Fields(cmp.Or(os.Getenv("RACE_FLAGS"), "-race")), "./cmd/async-worker") // see .ci/tests
}

// plainProgram is that without the race detector, under which reading hundreds of pages takes ten times as long; beside
// it is async-worker-dev.
func plainProgram() (string, error) {
	return plain.build(nil, "./cmd/async-worker", "./cmd/async-worker-dev")
}

// built waits for a build: it takes minutes on a busy machine, and what is measured begins after it.
func built(t *testing.T, program func() (string, error)) {
	t.Helper()
	if _, err := program(); err != nil {
		t.Fatal(err)
	}
}

func (p *programs) build(flags []string, packages ...string) (string, error) {
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "async-worker-e2e-"); p.err == nil {
			p.file = filepath.Join(p.dir, "async-worker")
			p.err = build(p.dir, flags, packages...)
		}
	})
	return p.file, p.err
}

// build compiles the programs into the folder, each under the name of its package's folder.
func build(dir string, flags []string, packages ...string) error {
	root, err := stack.Root()
	if err != nil {
		return err
	}
	args := append([]string{"build", "-trimpath", "-o", dir + string(filepath.Separator)}, flags...)
	cmd := exec.Command("go", append(args, packages...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
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

func removePrograms() error { return errors.Join(os.RemoveAll(raced.dir), os.RemoveAll(plain.dir)) }
