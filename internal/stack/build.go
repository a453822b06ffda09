package stack

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build compiles programs, of this module or of those in its go.mod, into a folder, each under the name that go build
// gives it. Flags of go build may stand before the packages. It takes minutes on a busy machine.
func Build(ctx context.Context, dir string, packages ...string) error {
	root, err := Root()
	if err != nil {
		return err
	}
	// Without tables for debuggers linking takes half as long. What ends in a separator is a folder.
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", dir + string(filepath.Separator)}
	cmd := exec.CommandContext(ctx, "go", append(args, packages...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", strings.Join(packages, " "), err, out)
	}
	return nil
}
