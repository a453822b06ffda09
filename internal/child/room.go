package child

import (
	"errors"
	"fmt"
	"syscall"
)

// leastRoom is how much of a disk is free when it is not full, in bytes: a program whose next block of output finds no
// room leaves up to that.
const leastRoom = 256 << 10

// checkRoom returns an error that wraps ENOSPC if the disk on which a program wrote is full: that it failed, or made
// nothing, says nothing about its document then. Of a program that succeeded only what it made could have been cut off.
// dir is its temporary folder, with what it has left there.
func (c Command) checkRoom(result Result, dir string, free func(folder string) (uint64, error)) error {
	folders := c.Folders
	if !result.OK() {
		folders = append([]string{dir}, folders...)
	}
	for _, folder := range folders {
		if room, err := free(folder); err == nil && room < leastRoom {
			return fmt.Errorf("run %s: %d KiB are free where it writes: %w", c.Program, room>>10, syscall.ENOSPC)
		}
	}
	return nil
}

// lackingFiles says of a program that could not be started for want of open files that there were too many. As it starts, its
// files are moved to higher numbers, and dup(2) answers EBADF to one that the limit doesn't allow.
func lackingFiles(err error) error {
	if errors.Is(err, syscall.EBADF) {
		return fmt.Errorf("%w: %w", syscall.EMFILE, err)
	}
	return err
}
