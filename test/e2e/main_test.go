package e2e

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

func TestMain(m *testing.M) {
	stacktest.Main(m, removeProgram, func() error { return goleak.Find() })
}

// built is the program, built by the first test that needs it.
var built struct {
	once      sync.Once
	dir, file string
	err       error
}

// program is the file of async-worker, built once, with the race detector if the tests have it.
func program() (string, error) {
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "async-worker-e2e-"); built.err == nil {
			built.file = filepath.Join(built.dir, "async-worker")
			built.err = build(built.dir, "./cmd/async-worker", "./cmd/async-worker-dev")
		}
	})
	return built.file, built.err
}

// build compiles the programs into the folder, each under the name of its package's folder.
func build(dir string, packages ...string) error {
	root, err := stack.Root()
	if err != nil {
		return err
	}
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	if raced() {
		args = append(args, strings.Fields(cmp.Or(os.Getenv("RACE_FLAGS"), "-race"))...) // see .ci/tests
	}
	cmd := exec.Command("go", append(args, packages...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

func raced() bool {
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

func removeProgram() error {
	if built.dir == "" {
		return nil
	}
	return os.RemoveAll(built.dir)
}
