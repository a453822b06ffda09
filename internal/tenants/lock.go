package tenants

import (
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Exclusive runs do while no other process does so on this machine: what do reads is still there when it writes. Calls
// must not be nested. It waits for as long as another one takes.
func (m *Machine) Exclusive(do func() error) error {
	folder, err := m.root.Open(settingsFolder)
	if errors.Is(err, fs.ErrNotExist) { // the first tenant of an image
		folder, err = m.root.Open(".")
	}
	if err != nil {
		return fmt.Errorf("lock the tenants: %w", err)
	}
	defer func() { _ = folder.Close() }() // it was not written to; the lock ends with it
	for {
		err = unix.Flock(int(folder.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", folder.Name(), err)
	}
	return do()
}
