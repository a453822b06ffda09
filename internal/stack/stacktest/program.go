package stacktest

import (
	"context"
	"os"
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
		var dir string
		if dir, p.err = os.MkdirTemp("", "async-worker-test-"); p.err != nil {
			return
		}
		atExit(func() error { return os.RemoveAll(dir) })
		p.file = filepath.Join(dir, filepath.Base(packages[0]))
		p.err = stack.Build(context.Background(), dir, append(flags, packages...)...)
	})
	return p.file, p.err
}
