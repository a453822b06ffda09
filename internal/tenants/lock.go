package tenants

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A change takes milliseconds. But whoever may read the settings may also hold the lock, for as long as they like, and a
// token could not be revoked.
const (
	lockWait = 10 * time.Second
	lockPoll = 20 * time.Millisecond
)

// Exclusive runs do while no other process does so on this machine: what do reads is still there when it writes. Calls
// must not be nested. It waits for another one for up to 10 seconds; the error says how to find who holds the lock.
func (m *Machine) Exclusive(do func() error) error {
	name := settingsFolder
	folder, err := m.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) { // the first tenant of an image
		name = "."
		folder, err = m.root.Open(name)
	}
	if err != nil {
		return fmt.Errorf("lock the tenants: %w", err)
	}
	defer func() { _ = folder.Close() }() // it was not written to; the lock ends with it
	if err := lock(folder); errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("lock %[1]s: another process has held it for %[2]v; find it with lslocks or fuser -v %[1]s, "+
			"and repeat the command when it has ended", m.shown(name), lockWait)
	} else if err != nil {
		return fmt.Errorf("lock %s: %w", m.shown(name), err)
	}
	return do()
}

// lock locks a folder. The error is EWOULDBLOCK if another process holds the lock for too long.
func lock(folder *os.File) error {
	for began := time.Now(); ; time.Sleep(lockPoll) {
		err := unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if again := errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR); !again || time.Since(began) >= lockWait {
			return err
		}
	}
}
