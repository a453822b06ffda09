package devstack

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// home is the folder of the local stack, .dev of the project.
type home struct {
	root string // of the project
	dir  string
	data string // of the services: data in dir, or a folder for this run only
	tmp  string // for temporary files of the children
	once bool
	lock *os.File

	mu   sync.Mutex
	logs []io.Closer
}

// openHome creates and locks the folder: two stacks would corrupt each other's data.
func openHome(root, dir string, once bool) (*home, error) {
	h := &home{root: root, dir: dir, once: once}
	if err := os.MkdirAll(filepath.Join(h.dir, "logs"), 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of the local stack: %w", err)
	}
	if err := h.takeLock(); err != nil {
		return nil, err
	}
	if err := h.makeFolders(); err != nil {
		return nil, errors.Join(err, h.close())
	}
	return h, nil
}

func (h *home) takeLock() error {
	path := filepath.Join(h.dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the lock of the local stack: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 20))
		f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("lock %s: %w", path, err)
		}
		return fmt.Errorf("a local stack is already running here (process %s): use it with the settings in %s, or "+
			"stop it with Ctrl-C in its terminal",
			strings.TrimSpace(string(holder)), h.rel(h.envPath()))
	}
	h.lock = f
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("write the lock of the local stack: %w", err)
	}
	_, err = fmt.Fprintln(f, os.Getpid())
	return err
}

// makeFolders also removes what a killed run left.
func (h *home) makeFolders() error {
	left, err := filepath.Glob(filepath.Join(h.dir, "once-*"))
	if err != nil {
		return err
	}
	h.tmp = filepath.Join(h.dir, "tmp")
	for _, dir := range append(left, h.tmp) {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("clean up: %w", err)
		}
	}
	h.data = filepath.Join(h.dir, "data")
	if h.once {
		if h.data, err = os.MkdirTemp(h.dir, "once-"); err != nil {
			return err
		}
	}
	for _, dir := range []string{h.data, h.tmp} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// log opens a part's log, truncated for each run.
func (h *home) log(part string) (io.Writer, error) {
	f, err := os.OpenFile(h.logPath(part), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", part, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logs = append(h.logs, f)
	return f, nil
}

func (h *home) logPath(part string) string { return filepath.Join(h.dir, "logs", part+".log") }

// rel is a path relative to the project's folder, if it is below.
func (h *home) rel(path string) string {
	if rel, err := filepath.Rel(h.root, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// close removes the files of this run and releases the lock.
func (h *home) close() error {
	var errs []error
	for _, l := range h.logs {
		errs = append(errs, l.Close())
	}
	if h.once && h.data != "" {
		errs = append(errs, os.RemoveAll(h.data))
	}
	if h.tmp != "" {
		errs = append(errs, os.RemoveAll(h.tmp))
	}
	// Closing alone would keep the lock while a child being forked still has a copy of the descriptor.
	errs = append(errs, h.lock.Truncate(0), syscall.Flock(int(h.lock.Fd()), syscall.LOCK_UN), h.lock.Close())
	return errors.Join(errs...)
}
