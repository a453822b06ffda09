package main

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// programs are built once, by the kind that needs them first: linking takes seconds of CPU.
type programs struct {
	mu    sync.Mutex
	dir   *stack.TempDir
	files map[string]func() (string, error)
}

// of builds a program of this module, or natsServer, and returns its file.
func (p *programs) of(ctx context.Context, pkg string) (string, error) {
	p.mu.Lock()
	if p.dir == nil {
		dir, err := stack.NewTempDir("", "async-worker-prove-")
		if err != nil {
			p.mu.Unlock()
			return "", err
		}
		p.dir, p.files = dir, map[string]func() (string, error){}
	}
	file, ok := p.files[pkg]
	if !ok {
		dir := p.dir.Path
		file = sync.OnceValues(func() (string, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute) // others wait for it, too
			defer cancel()
			if pkg == natsServer {
				return stack.BuildNATS(ctx, dir)
			}
			return filepath.Join(dir, filepath.Base(pkg)), stack.Build(ctx, dir, pkg)
		})
		p.files[pkg] = file
	}
	p.mu.Unlock()
	return file()
}

// remove removes all files.
func (p *programs) remove() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dir == nil {
		return nil
	}
	err := p.dir.Remove()
	p.dir = nil
	return err
}

// natsServer is the program of nats-server.
const natsServer = "nats-server"
