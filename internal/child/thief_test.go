package child_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed-7227ef26/async-worker/internal/child"
)

// thiefProgram is this test's own binary under the name of a parser: what a document could make of one. It tries to
// reach what isn't its own, and prints a line for each.
const thiefProgram = "pdftotext"

// thief is what the thief goes for, told by arguments.
type thief struct {
	credentials, envFile, otherBlob, outside, tcp, unix, abstract string
	sibling                                                       int
}

func (v thief) args() []string {
	return []string{
		v.credentials, v.envFile, v.otherBlob, v.outside, v.tcp, v.unix, v.abstract, strconv.Itoa(v.sibling),
	}
}

// attempts are the thefts, by name. Each succeeds for a program that is not confined, unless it needs privileges.
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
		"another's file away":    func() error { return os.Rename(v.otherBlob, v.otherBlob) },
		"another's file cut":     func() error { return os.Truncate(v.otherBlob, 3) },
		"another's rights":       func() error { return os.Chmod(v.outside, 0o700) },
		"another's owner":        func() error { return os.Lchown(v.otherBlob, os.Getuid(), -1) },
		"another's times":        func() error { return os.Chtimes(v.otherBlob, time.Time{}, time.Unix(0, 0)) },
		"another's attributes":   func() error { return unix.Setxattr(v.otherBlob, "user.thief", []byte("x"), 0) },
		"what others do":         watch(v.outside),
		"TCP on loopback":        dial("tcp", v.tcp),
		"UDP":                    dial("udp", "127.0.0.1:53"),
		"a Unix socket":          dial("unix", v.unix),
		"an abstract socket":     dial("unix", v.abstract),
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
				_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) // it would outlive us
			}
			return err
		},
		"new namespaces":             call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER, 0, 0),
		"a file without a name":      func() error { _, err := unix.MemfdCreate("x", 0); return err },
		"io_uring":                   call(unix.SYS_IO_URING_SETUP, 1, 0, 0),
		"a descriptor of the worker": inherited,
	}
}

// watch is told of what happens in a folder, by the names of its files.
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

// own lets the kernel signal a process, with a signal of one's choice, when a pipe can be read.
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

// inherited looks for descriptors beyond the three that a program is given. The runtime's own are none of files.
func inherited() error {
	for fd := 3; fd < 256; fd++ {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			return nil
		}
	}
	return syscall.EBADF
}

// steal is the thief's main. What it may do is proved first: it reads its file and writes into its folder.
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

// scene is a worker's surroundings: its secrets, other tasks' files, and services that listen.
func scene(t *testing.T) (program, own string, v thief) {
	t.Helper()
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program = file("bin/"+thiefProgram, string(self), 0o700)
	own = file("task-1/document.pdf", "%PDF", 0o600)
	v = thief{
		credentials: filepath.Dir(file("credentials/OPENAI_API_KEY", "sk-secret", 0o600)),
		envFile:     file("southhaven.env", "DATABASE_URL=secret", 0o600),
		otherBlob:   file("task-2/document.pdf", "%PDF of another", 0o600),
		outside:     filepath.Join(dir, "task-2"),
		unix:        filepath.Join(dir, "http.sock"), abstract: "@" + filepath.Base(dir) + t.Name(),
	}
	listen := func(network, address string) string {
		var config net.ListenConfig
		l, err := config.Listen(t.Context(), network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l.Addr().String()
	}
	v.tcp = listen("tcp", "127.0.0.1:0")
	listen("unix", v.unix)
	listen("unix", v.abstract)
	return program, own, v
}

// rob runs the thief beside another child, and returns what it got and what it was denied.
func rob(t *testing.T, trusted bool) (got, refused []string) {
	t.Helper()
	program, own, v := scene(t)
	leaked, err := unix.Open(v.envFile, unix.O_RDONLY, 0) // as if the worker had been started with it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(leaked) }()
	hold, release := io.Pipe()
	pid, ended := make(chan int, 1), make(chan error, 1)
	go func() {
		_, err := child.Run(t.Context(), child.Command{
			Program: program, Args: []string{"wait"}, Dir: t.TempDir(), Stdin: hold, Trusted: trusted,
			Stdout: func(r io.Reader) error {
				line, err := bufio.NewReader(r).ReadString('\n')
				n, _ := strconv.Atoi(strings.TrimSpace(line))
				pid <- n
				return err
			},
		})
		ended <- err
	}()
	v.sibling = <-pid
	var out string
	c := child.Command{
		Program: program, Args: append([]string{own}, v.args()...), Files: []string{own}, Dir: t.TempDir(),
		Trusted: trusted,
	}
	c.Stdout = func(r io.Reader) error {
		b, err := io.ReadAll(r)
		out = string(b)
		return err
	}
	result, err := child.Run(t.Context(), c)
	_ = release.Close()
	if err := errors.Join(err, <-ended); err != nil || !result.OK() {
		t.Fatal(result, err)
	}
	if !strings.Contains(out, "own file: <nil> <nil> ") {
		t.Fatalf("it can't do its own work:\n%s", out)
	}
	seen := map[string]string{}
	for line := range strings.Lines(out) {
		if f := strings.Split(strings.TrimSpace(line), "\t"); len(f) > 1 && seen[f[1]] != "got" {
			seen[f[1]] = f[0]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		if seen[name] == "got" {
			got = append(got, name)
		} else {
			refused = append(refused, name)
		}
	}
	return got, refused
}

// TestThief: a parser that a document has taken over reaches nothing but its file and its folder.
func TestThief(t *testing.T) {
	if child.Confine().Landlock == 0 {
		t.Skip("there is no Landlock here: ", child.Confine().NoLandlock)
	}
	got, refused := rob(t, false)
	if len(got) > 0 {
		t.Errorf("it got %q", got)
	}
	if most := len(thief{}.attempts()); len(refused) != most {
		t.Errorf("%d of %d thefts were denied", len(refused), most)
	}
	t.Logf("%d thefts denied, %d not", len(refused), len(got))
}

// TestThiefUnconfined: the thefts are real. The same program gets nearly all of it without a sandbox.
func TestThiefUnconfined(t *testing.T) {
	got, refused := rob(t, true)
	for _, name := range []string{
		"the worker's environment", "the worker's descriptors", "the credentials", "the environment file",
		"another task's blob",
		"a file outside", "another's file cut", "another's rights", "another's owner", "another's times",
		"what others do", "a signal by a pipe", "TCP on loopback", "a Unix socket", "an abstract socket",
		"a signal to the worker",
		"a signal to a sibling", "a sibling's environment", "the worker's limits", "a descriptor of the worker",
	} {
		if !slices.Contains(got, name) {
			t.Errorf("it can't get %s even so: the attempt proves nothing", name)
		}
	}
	t.Logf("got %d, and not %q", len(got), refused)
}

// TestWorkerStaysFree: what confines a child is gone with the thread that it was started by.
func TestWorkerStaysFree(t *testing.T) {
	const children, threads = 20, 100
	for range children {
		c, _ := sh(t, "true")
		if r, err := child.Run(t.Context(), c); err != nil || !r.OK() {
			t.Fatal(r, err)
		}
	}
	var all sync.WaitGroup
	begin := make(chan struct{})
	for range threads {
		all.Go(func() {
			runtime.LockOSThread() // each of them needs a thread of its own
			defer runtime.UnlockOSThread()
			<-begin
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err == nil {
				err = unix.Close(fd)
			}
			_, other := os.ReadFile("/etc/passwd")
			if err := errors.Join(err, other); err != nil {
				t.Error("a thread of the worker is confined: ", err)
			}
		})
	}
	close(begin)
	all.Wait()
}

// TestProtect: other processes of the user can't look into a protected one, which can still look into itself.
func TestProtect(t *testing.T) {
	program, _, _ := scene(t)
	c, text := sh(t, "exec "+program+" protect me please")
	c.Trusted = true
	if r, err := child.Run(t.Context(), c); err != nil || !r.OK() || *text != "dumpable 0 <nil> <nil>\n" {
		t.Errorf("%q %+v %v", *text, r, err)
	}
}

// protected is TestProtect's process.
func protected() {
	err := child.Protect()
	dumpable, _ := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	_, maps := os.ReadFile("/proc/self/maps")
	fmt.Println("dumpable", dumpable, err, maps)
}

// BenchmarkRun is what one child costs. Documents are read by many short ones.
func BenchmarkRun(b *testing.B) {
	for name, trusted := range map[string]bool{"confined": false, "trusted": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if r, err := child.Run(b.Context(), child.Command{Program: "true", Trusted: trusted}); err != nil ||
					!r.OK() {
					b.Fatal(r, err)
				}
			}
		})
	}
}
