package stack

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// ownerFile is the file in a TempDir that its process keeps locked while it lives. No other program's folder has it.
	ownerFile = ".async-worker-owner"
	// settled is the age from which on a folder's lock and server are there, if its process lives.
	settled = time.Hour
)

// TempDir is a folder for temporary files of tests. What a process leaves behind that is killed, as an interrupted test is,
// is removed when another folder is made in the same parent. It has to be kept as long as the folder is used: the lock is
// this value's.
type TempDir struct {
	Path  string
	owner *os.File
}

// NewTempDir makes a folder that nobody else may enter, in a parent; empty: os.TempDir(). All with one prefix have paths of
// the same length.
func NewTempDir(parent, prefix string) (*TempDir, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	removeAbandoned(parent, settled)
	d := &TempDir{Path: filepath.Join(parent, prefix+rand.Text()[:10])}
	if err := os.Mkdir(d.Path, 0o700); err != nil {
		return nil, err
	}
	owner, err := os.OpenFile(filepath.Join(d.Path, ownerFile), os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err == nil {
		d.owner = owner
		err = syscall.Flock(int(owner.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the temporary folder %s: %w", d.Path, err), d.Remove())
	}
	return d, nil
}

// Remove removes the folder with all that is in it.
func (d *TempDir) Remove() error {
	err := os.RemoveAll(d.Path)
	if d.owner != nil {
		err = errors.Join(err, d.owner.Close())
	}
	return err
}

// removeAbandoned removes those of our folders in a parent whose process is gone and that are older than the age. Tests of
// other checkouts may be running, and hold their locks.
func removeAbandoned(parent string, age time.Duration) {
	owners, _ := filepath.Glob(filepath.Join(parent, "*", ownerFile)) // the pattern is well-formed
	for _, owner := range owners {
		removeUnowned(owner, age)
	}
	clusters, _ := filepath.Glob(filepath.Join(parent, postgresPrefix+"*"))
	for _, cluster := range clusters {
		if _, err := os.Lstat(filepath.Join(cluster, ownerFile)); errors.Is(err, os.ErrNotExist) {
			removeStopped(cluster, age)
		}
	}
}

// removeUnowned removes the folder of an owner file that nobody holds. One of another user's is left alone, in whose folder
// a link may lead anywhere.
func removeUnowned(owner string, age time.Duration) {
	info, err := os.Lstat(owner)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < age {
		return
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Geteuid() {
		return
	}
	f, err := os.OpenFile(owner, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = os.RemoveAll(filepath.Dir(owner)) // nobody waits for it
	}
}

// removeStopped removes a cluster that has no owner file, unless its server runs: postmaster.pid names its process.
func removeStopped(cluster string, age time.Duration) {
	info, err := os.Lstat(cluster)
	if err != nil || !info.IsDir() || time.Since(info.ModTime()) < age {
		return
	}
	text, err := os.ReadFile(filepath.Join(cluster, "data", "postmaster.pid"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return // another user's
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if pid, err := strconv.Atoi(first); err == nil && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return
	}
	_ = os.RemoveAll(cluster) // nobody waits for it
}
