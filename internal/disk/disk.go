// Package disk tells how much room a disk has.
package disk

import (
	"fmt"
	"syscall"
)

// Free returns how much can be written to the disk of a folder, in bytes.
func Free(folder string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("ask for the free space in %s: %w", folder, err)
	}
	return s.Bavail * uint64(s.Bsize), nil
}
