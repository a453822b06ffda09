package stack

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/disk"
)

// shm is the memory that Linux shows as a folder. In a container it is often small.
const shm, shmNeeded = "/dev/shm", 4 << 30

// memoryFolder is a folder in memory for the cluster of a test; empty, the usual temporary folder, where there is
// little room. ext4 passes over inodes that were freed within the last seconds, one by one, and a database is hundreds
// of files: where tests create and drop them in a row, that took most of their time (`recently_deleted` in Linux's
// fs/ext4/ialloc.c).
func memoryFolder() string {
	if free, err := disk.Free(shm); err != nil || free < shmNeeded {
		return ""
	}
	removeAbandoned(shm, time.Hour)
	return shm
}

// removeAbandoned removes the clusters in a folder whose server is gone, and that are older than the age: a test that
// panics removes nothing, and memory is not emptied by a restart that never comes.
func removeAbandoned(folder string, age time.Duration) {
	all, _ := filepath.Glob(filepath.Join(folder, "async-worker-postgres-*")) // the pattern is well-formed
	for _, cluster := range all {
		info, err := os.Stat(cluster)
		if err != nil || time.Since(info.ModTime()) < age {
			continue
		}
		text, err := os.ReadFile(filepath.Join(cluster, "data", "postmaster.pid"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			continue // another user's
		}
		first, _, _ := strings.Cut(string(text), "\n")
		if pid, err := strconv.Atoi(first); err == nil && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		_ = os.RemoveAll(cluster) // nobody waits for it
	}
}
