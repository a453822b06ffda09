package child

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Access rights of a Landlock rule (linux/landlock.h). The kernel rejects folder rights for a file.
const (
	mayRead = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	mayRun  = mayRead | unix.LANDLOCK_ACCESS_FS_EXECUTE
	// mayWrite lacks symbolic links: the worker reads what programs make, and more files than they may.
	mayWrite = mayRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR
	mayListen = mayWrite | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_REFER // within its folders
	// mayScratch are the rights of a file whose name its program makes up: no listing, no other kinds of files.
	mayScratch = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE
	ofFiles = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE
)

// landlockRights are the rights that each version of Landlock adds to those it can deny.
var landlockRights = []uint64{
	0,
	1<<13 - 1, // 1: Linux 5.13
	unix.LANDLOCK_ACCESS_FS_REFER,
	unix.LANDLOCK_ACCESS_FS_TRUNCATE,
	0, // 4: TCP, which seccomp denies with all sockets
	unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
	0, // 6: the scopes
}

// scopesSince is the version that can deny signals and abstract sockets.
const scopesSince = 6

// threadsErratum is the bit of the fixed bug that denied signals to the threads of the same process, which the
// Go runtime sends.
const threadsErratum = 1 << 1

// landlock is the kernel's support. The zero value is none.
type landlock struct {
	version int
	signals bool // signals to other processes can be denied
	why     error
}

func lookForLandlock() landlock {
	version, _, no := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case no == unix.ENOSYS:
		return landlock{why: errors.New("the kernel was built without Landlock (it came with Linux 5.13)")}
	case no == unix.EOPNOTSUPP:
		return landlock{why: errors.New("Landlock is switched off in this kernel; add landlock to its lsm= parameter")}
	case no != 0:
		return landlock{why: fmt.Errorf("landlock is denied to the worker: %w", no)}
	}
	l := landlock{version: int(version)}
	errata, _, no := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_ERRATA)
	l.signals = l.version >= scopesSince && no == 0 && errata&threadsErratum != 0
	return l
}

// handled returns the rights that are denied unless a rule grants them.
func (l landlock) handled() uint64 {
	var all uint64
	for i, rights := range landlockRights {
		if i <= l.version {
			all |= rights
		}
	}
	return all
}

// grant is a file, or a folder with everything below it.
type grant struct {
	path   string
	rights uint64
	needed bool // otherwise it may be missing
}

// ruleset creates the ruleset with which a thread can restrict itself. The caller closes the descriptor.
func (l landlock) ruleset(grants []grant) (fd int, err error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: l.handled()}
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if l.version >= scopesSince {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		if l.signals {
			attr.Scoped |= unix.LANDLOCK_SCOPE_SIGNAL
		}
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	set, _, no := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0) //nolint:gosec // the kernel reads it during the call
	if no != 0 {
		return -1, fmt.Errorf("make a ruleset: %w", no)
	}
	for _, g := range grants {
		if err := l.allow(int(set), g); err != nil {
			_ = unix.Close(int(set)) // nothing was written
			return -1, fmt.Errorf("allow %s: %w", g.path, err)
		}
	}
	return int(set), nil
}

func (l landlock) allow(set int, g grant) error {
	fd, err := unix.Open(g.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		if !g.needed && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
			return nil
		}
		return err
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	rights := g.rights & l.handled()
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	beneath := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, no := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&beneath)), 0, 0, 0) //nolint:gosec // as above
	runtime.KeepAlive(&beneath)
	if no != 0 {
		return no
	}
	return nil
}

// enforce restricts the calling thread permanently.
func enforce(set int) error {
	if _, _, no := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set), 0, 0); no != 0 {
		return no
	}
	return nil
}
