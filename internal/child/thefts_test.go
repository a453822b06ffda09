package child_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// thiefProgram is this test's own binary under the name of a parser that a document has taken over. It tries to
// access what isn't its own, and prints a line for each attempt.
const thiefProgram = "pdftotext"

// thief holds the targets of the thief, which are passed as arguments.
type thief struct {
	credentials, envFile, otherBlob, outside, tcp, unix, abstract string
	sibling                                                       int
}

func (v thief) args() []string {
	return []string{
		v.credentials, v.envFile, v.otherBlob, v.outside, v.tcp, v.unix, v.abstract, strconv.Itoa(v.sibling),
	}
}

// attempts are the thefts, by name. Each succeeds for an unconfined program, unless it needs privileges.
func (v thief) attempts() map[string]func() error {
	parent := os.Getppid()
	proc := func(pid int, name string) string { return filepath.Join("/proc", strconv.Itoa(pid), name) }
	read := func(path string) func() error {
		return func() error { _, err := os.ReadFile(path); return err }
	}
	dial := func(network, address string) func() error {
		return func() error {
			c, err := net.Dial(network, address)
			if err == nil {
				_ = c.Close()
			}
			return err
		}
	}
	call := func(number uintptr, a, b, c uintptr) func() error {
		return func() error {
			if _, _, no := unix.RawSyscall6(number, a, b, c, 0, 0, 0); no != 0 {
				return no
			}
			return nil
		}
	}
	return map[string]func() error{
		"the worker's environment": read(proc(parent, "environ")),
		"the worker's arguments":   read(proc(parent, "cmdline")),
		"the worker's memory map":  read(proc(parent, "maps")),
		"the worker's descriptors": func() error { _, err := os.ReadDir(proc(parent, "fd")); return err },
		"the worker's root":        read(proc(parent, "root/etc/passwd")),
		"a sibling's environment":  read(proc(v.sibling, "environ")),
		"the credentials":          read(filepath.Join(v.credentials, "OPENAI_API_KEY")),
		"their list":               func() error { _, err := os.ReadDir(v.credentials); return err },
		"the environment file":     read(v.envFile),
		"another task's blob":      read(v.otherBlob),
		"the list of users":        read("/etc/passwd"),
		"a file outside": func() error {
			return os.WriteFile(filepath.Join(v.outside, "left behind"), nil, 0o600)
		},
		"a link for the worker to follow": func() error {
			return os.Symlink(filepath.Join(v.credentials, "OPENAI_API_KEY"), filepath.Join(os.TempDir(), "result.png"))
		},
		"another's file away":  func() error { return os.Rename(v.otherBlob, v.otherBlob) },
		"another's file cut":   func() error { return os.Truncate(v.otherBlob, 3) },
		"another's rights":     func() error { return os.Chmod(v.outside, 0o700) },
		"another's owner":      func() error { return os.Lchown(v.otherBlob, os.Getuid(), -1) },
		"another's times":      func() error { return os.Chtimes(v.otherBlob, time.Time{}, time.Unix(0, 0)) },
		"another's attributes": func() error { return unix.Setxattr(v.otherBlob, "user.thief", []byte("x"), 0) },
		"what others do":       watch(v.outside),
		"TCP on loopback":      dial("tcp", v.tcp),
		"UDP":                  dial("udp", "127.0.0.1:53"),
		"a Unix socket":        dial("unix", v.unix),
		"an abstract socket":   dial("unix", v.abstract),
		"a datagram socket": func() error {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				_ = unix.Close(fd)
			}
			return err
		},
		"a signal to the worker": call(unix.SYS_KILL, uintptr(parent), 0, 0),
		"a signal to its thread": call(unix.SYS_TGKILL, uintptr(parent), uintptr(parent), 0),
		"a signal to a sibling":  call(unix.SYS_KILL, uintptr(v.sibling), 0, 0),
		"a signal by a pipe":     own(parent),
		"ptrace of the worker":   call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(parent), 0),
		"the worker's limits":    call(unix.SYS_PRLIMIT64, uintptr(parent), unix.RLIMIT_NOFILE, 0),
		"the worker's priority":  call(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, uintptr(parent), 0),
		"memory that others share": func() error {
			id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
			if err == nil {
				_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) // it would outlive the process
			}
			return err
		},
		"new namespaces":             call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0),
		"a file without a name":      func() error { _, err := unix.MemfdCreate("x", 0); return err },
		"io_uring":                   call(unix.SYS_IO_URING_SETUP, 1, 0, 0),
		"a descriptor of the worker": inherited,
	}
}

// watch reports what happens in a folder, by the names of its files.
func watch(dir string) func() error {
	return func() error {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
		if err != nil {
			return err
		}
		_, err = unix.InotifyAddWatch(fd, dir, unix.IN_CREATE)
		return errors.Join(err, unix.Close(fd))
	}
}

// own makes the kernel signal a process, with a chosen signal, when a pipe can be read.
func own(pid int) func() error {
	return func() error {
		var p [2]int
		if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
			return err
		}
		_, err := unix.FcntlInt(uintptr(p[0]), unix.F_SETOWN, pid)
		return errors.Join(err, unix.Close(p[0]), unix.Close(p[1]))
	}
}

// inherited looks for descriptors beyond the standard three. The runtime's own are not files.
func inherited() error {
	for fd := 3; fd < 256; fd++ {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			return nil
		}
	}
	return syscall.EBADF
}

// steal is the thief's main. It first proves what it may do: read its file and write into its folder.
func steal() {
	if len(os.Args) == 4 {
		protected()
		return
	}
	if len(os.Args) == 2 { // the sibling
		fmt.Println(os.Getpid())
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	a := os.Args[2:]
	sibling, _ := strconv.Atoi(a[7])
	v := thief{a[0], a[1], a[2], a[3], a[4], a[5], a[6], sibling}
	if err := inherited(); err == nil {
		fmt.Println("got\ta descriptor of the worker")
	}
	_, err := os.ReadFile(os.Args[1])
	fmt.Println("own file:", err, os.WriteFile("mine", []byte("x"), 0o600),
		unix.Prctl(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))
	for name, try := range v.attempts() {
		if err := try(); err == nil || errors.Is(err, unix.EFAULT) || errors.Is(err, unix.ESRCH) {
			fmt.Printf("got\t%s\n", name)
		} else {
			fmt.Printf("denied\t%s\t%v\n", name, err)
		}
	}
}
