package child

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denied are system calls that no parser needs and that reach beyond it: the network, other processes, large
// kernel surfaces, and changes of the machine.
var denied = []uint32{
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT,
	unix.SYS_ACCEPT4,

	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PROCESS_MRELEASE,
	unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETPARAM,
	unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETAFFINITY,
	unix.SYS_SETSID, // what leaves its process group outlives its leader; setpgid begins the group, so it can't be denied

	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_BPF,
	unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_MEMFD_CREATE,
	unix.SYS_MEMFD_SECRET,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV,
	unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,

	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
	unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,

	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_PERSONALITY, unix.SYS_VHANGUP,
	unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME,
	unix.SYS_SETDOMAINNAME,
	unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID, unix.SYS_SETREGID, unix.SYS_SETRESUID, unix.SYS_SETRESGID,
	unix.SYS_SETGROUPS,
	unix.SYS_SETFSUID, unix.SYS_SETFSGID, unix.SYS_CAPSET, unix.SYS_MKNODAT,

	// File changes that Landlock doesn't deny a process of the worker's user: rights, owner, times, attributes,
	// before Linux 6.2 the length; and notifications about a folder.
	unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT, unix.SYS_TRUNCATE,
	unix.SYS_INOTIFY_ADD_WATCH,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT, unix.SYS_FILE_SETATTR,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
}

// signalling are the calls that Landlock restricts to the child's own processes; without it they are denied.
// tgkill is not among them, see newFilter.
var signalling = []uint32{
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_SEND_SIGNAL,
}

// listening are the denied calls that a program may make that listens. It may make UNIX sockets only.
var listening = []uint32{
	unix.SYS_SOCKET, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
}

const (
	// newest is the last system call that this list was made from (Linux 6.17). Later ones, and those of
	// amd64's x32 ABI, appear unimplemented to a child: libraries do without.
	newest = unix.SYS_LISTNS

	// namespaces are the flags of clone(2) that create namespaces. The flags of clone3 are where no filter can
	// read them; without clone3 libraries use clone.
	namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
		unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME

	refuse  = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	unknown = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
)

// auditArch identifies the machine's system calls to the kernel. Other machines have no filter.
var auditArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// filter is a seccomp program.
type filter []unix.SockFilter

// newFilter returns the program. signals reports that Landlock restricts signals. Without it, a child may only
// send tgkill with SIGURG, which the Go runtime ignores, and which its threads send to each other. listens allows it to listen on UNIX sockets.
func newFilter(signals, listens bool) (filter, error) {
	arch, ok := auditArch[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("there is no filter of system calls for %s", runtime.GOARCH)
	}
	var f filter
	f.load(offsetArch)
	f.unless(arch, unix.SECCOMP_RET_KILL_PROCESS)
	f.load(offsetNumber)
	f.above(newest, unknown)
	for _, call := range slices.Concat(denied, byPath) {
		if !listens || !slices.Contains(listening, call) {
			f.when(call, refuse)
		}
	}
	if listens {
		f.unixStreams()
		f.whenArgument(unix.SYS_ACCESS, 1, unix.W_OK)
		f.whenArgument(unix.SYS_FACCESSAT, 2, unix.W_OK)
		f.whenArgument(unix.SYS_FACCESSAT2, 2, unix.W_OK)
	}
	if !signals {
		for _, call := range signalling {
			f.when(call, refuse)
		}
		f.unlessArgument(unix.SYS_TGKILL, 2, uint32(unix.SIGURG))
	}
	f.when(unix.SYS_CLONE3, unknown)
	f.unlessArgument(unix.SYS_PRLIMIT64, 0, 0)                                        // its own limits
	f.whenArgument(unix.SYS_FCNTL, 1, unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG) // would signal others
	f.whenArgument(unix.SYS_IOCTL, 1, unix.TIOCSTI)
	f.whenFlags(unix.SYS_CLONE, namespaces)
	f.end(unix.SECCOMP_RET_ALLOW)
	return f, nil
}

// Offsets in struct seccomp_data. Arguments are read by their lower halves: amd64 and arm64 are little-endian,
// and no argument above is larger.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

func (f *filter) put(code uint16, k uint32, yes, no uint8) {
	*f = append(*f, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (f *filter) load(offset uint32) { f.put(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

func (f *filter) end(action uint32) { f.put(unix.BPF_RET|unix.BPF_K, action, 0, 0) }

func (f *filter) unless(value, action uint32) {
	f.put(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, value, 1, 0)
	f.end(action)
}

func (f *filter) when(value, action uint32) {
	f.put(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, value, 0, 1)
	f.end(action)
}

func (f *filter) above(value, action uint32) {
	f.put(unix.BPF_JMP|unix.BPF_JGT|unix.BPF_K, value, 0, 1)
	f.end(action)
}

// unlessArgument denies the call unless its argument is value.
func (f *filter) unlessArgument(call uint32, argument int, value uint32) {
	f.argument(call, argument, unix.BPF_JEQ, false, value)
}

// whenArgument denies the call if its argument is one of the values.
func (f *filter) whenArgument(call uint32, argument int, values ...uint32) {
	f.argument(call, argument, unix.BPF_JEQ, true, values...)
}

// whenFlags denies the call if its first argument has any of the flags.
func (f *filter) whenFlags(call, flags uint32) { f.argument(call, 0, unix.BPF_JSET, true, flags) }

// argument decides about a call finally: there is one rule for each.
func (f *filter) argument(call uint32, argument int, test uint16, refused bool, values ...uint32) {
	f.put(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, call, 0, uint8(2+2*len(values)))
	f.load(offsetArgs + 8*uint32(argument))
	yes, no := uint8(0), uint8(1)
	if !refused {
		yes, no = 1, 0
	}
	for _, value := range values {
		f.put(unix.BPF_JMP|test|unix.BPF_K, value, yes, no)
		f.end(refuse)
	}
	f.end(unix.SECCOMP_RET_ALLOW)
}

// unixStreams denies to make a socket unless it is a UNIX socket of a stream: datagrams are sent without connect.
func (f *filter) unixStreams() {
	const typeMask = 0xF // the rest are flags
	f.put(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SYS_SOCKET, 0, 8)
	f.load(offsetArgs)
	f.unless(unix.AF_UNIX, refuse)
	f.load(offsetArgs + 8)
	f.put(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, typeMask, 0, 0)
	f.put(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SOCK_STREAM, 1, 0)
	f.end(refuse)
	f.end(unix.SECCOMP_RET_ALLOW)
}

// install filters the system calls of the calling thread permanently.
func (f filter) install() error {
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0) //nolint:gosec // the kernel copies it during the call
	runtime.KeepAlive(&prog)
	return err
}
