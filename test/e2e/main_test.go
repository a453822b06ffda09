package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

func TestMain(m *testing.M) {
	stacktest.Main(m, removeProgram, func() error { return goleak.Find() })
}

// program is the file of async-worker, built once, with the race detector when the tests have it.
var program = sync.OnceValues(func() (string, error) {
	root, err := stack.Root()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "async-worker-e2e-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "async-worker")
	args := []string{"build", "-o", file}
	if raced() {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "./cmd/async-worker")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return file, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return file, nil
})

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

// removeProgram builds it if no test did; that only happens when none was selected.
func removeProgram() error {
	file, _ := program()
	if file == "" {
		return nil
	}
	return os.RemoveAll(filepath.Dir(file))
}
