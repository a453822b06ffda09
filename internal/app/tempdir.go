package app

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// tempPrefix is the prefix of the folders for temporary files.
	tempPrefix = "async-worker-"
	// tempLock is the file in the folder that its worker keeps locked while it lives.
	tempLock = "lock"
)

// tempDir is a worker's folder for temporary files. Tasks write below it only.
type tempDir struct {
	path string
	lock *os.File
}

// newTempDir creates a folder in parent; empty: os.TempDir().
func newTempDir(parent string) (*tempDir, error) {
	path, err := os.MkdirTemp(parent, tempPrefix)
	if err != nil {
		return nil, err
	}
	// The lock gets its name only when it is held: a sweep before that finds no lock and leaves the folder alone.
	lock, err := os.OpenFile(filepath.Join(path, tempLock+".new"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err == nil {
		err = os.Rename(lock.Name(), filepath.Join(path, tempLock))
	}
	d := &tempDir{path, lock}
	if err != nil {
		return nil, errors.Join(err, d.remove())
	}
	return d, nil
}

func (d *tempDir) remove() error {
	err := os.RemoveAll(d.path)
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}

// abandoned reports whether the folder's worker has died: nobody holds its lock. A folder of workers alone (own) may have
// no lock, if its worker died as it made or removed it.
func abandoned(path string, own bool) bool {
	lock, err := os.OpenFile(filepath.Join(path, tempLock), os.O_RDWR, 0)
	if own && errors.Is(err, fs.ErrNotExist) {
		made, err := os.Stat(path)
		return err == nil && time.Since(made.ModTime()) > time.Minute
	}
	if err != nil {
		return false
	}
	defer func() { _ = lock.Close() }() // nothing was written
	return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// sweepTemp removes the folders of workers that were killed. Other workers may be running, also where containers share
// the volume of CACHE_DIRECTORY, and hold their locks.
func (t *Tenant) sweepTemp() {
	own := t.Config.CacheDir != ""
	// the pattern is well-formed
	left, _ := filepath.Glob(filepath.Join(cmp.Or(t.Config.CacheDir, os.TempDir()), tempPrefix+"*"))
	for _, dir := range left {
		if !abandoned(dir, own) {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			t.log.Warn("can't remove what a killed worker left behind", "error", err)
		}
	}
}
