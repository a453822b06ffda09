// Package disk reports how much room a disk has, and makes new names durable.
package disk

import (
	"errors"
	"fmt"
	"os"
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

// Sync makes the names in a folder durable, after a file was renamed or made there: to sync the file is not enough. Not
// every file system supports it; one that doesn't is trusted.
func Sync(root *os.Root, folder string) error {
	d, err := root.Open(folder)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
