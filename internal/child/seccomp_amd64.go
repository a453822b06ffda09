package child

import "golang.org/x/sys/unix"

// byPath are the older calls of those that are denied, which newer machines don't have.
var byPath = []uint32{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
	unix.SYS_MKNOD,
}
