package stacktest

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// Program is a program of this module, which the first test that needs it builds, and Main removes.
type Program struct {
	once sync.Once
	file string
	err  error
}

// Build compiles packages into one folder, after flags of go build, and returns the file of the first package. No
// test's time bounds it: the others wait for it, too, and on a busy machine it takes minutes.
func (p *Program) Build(flags []string, packages ...string) (file string, err error) {
	p.once.Do(func() {
		var dir *stack.TempDir
		if dir, p.err = stack.NewTempDir("", "async-worker-test-"); p.err != nil {
			return
		}
		atExit(dir.Remove)
		p.file = filepath.Join(dir.Path, filepath.Base(packages[0]))
		p.err = stack.Build(context.Background(), dir.Path, append(flags, packages...)...)
	})
	return p.file, p.err
}
