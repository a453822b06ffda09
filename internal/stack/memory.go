package stack

import "github.com/seed-7227ef26/async-worker/internal/disk"

// shm is the memory that Linux shows as a folder. In a container it is often small.
const shm, shmNeeded = "/dev/shm", 4 << 30

// memoryFolder is the folder in memory for the cluster of a test; empty, the usual temporary folder, where there is less
// room than needed. ext4 passes over inodes that were freed within the last seconds, one by one, and a database is hundreds
// of files: where tests create and drop them in a row, that took most of their time (`recently_deleted` in Linux's
// fs/ext4/ialloc.c).
func memoryFolder(folder string, needed uint64) string {
	// First of all: memory is not emptied by a restart that never comes, and what is left there may be what it is full of.
	removeAbandoned(folder, settled)
	if free, err := disk.Free(folder); err != nil || free < needed {
		return ""
	}
	return folder
}
