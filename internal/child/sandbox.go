package child

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// A child is confined by the thread that forks it: Landlock and seccomp apply to a thread, and its children
// inherit them over exec. So no launcher is needed, which could be missing after an upgrade. The thread is used
// for one child and ends with it; Go creates new threads from one that was never restricted.

// Confinement is what this machine can confine children with.
type Confinement struct {
	Landlock   int   // its version; zero: none
	NoLandlock error // the reason
	Signals    bool  // Landlock limits a child's signals to its own processes; otherwise it can send none
	NoSeccomp  error // why system calls are not filtered; nil: they are
}

// Confine reports what this machine supports.
func Confine() Confinement {
	k := machine()
	return Confinement{
		Landlock: k.landlock.version, NoLandlock: k.landlock.why, Signals: k.landlock.signals, NoSeccomp: k.noFilter,
	}
}

// kernel is the support of this machine, determined once.
type kernel struct {
	landlock landlock
	filter   filter
	listener filter // of Command.Listens
	noFilter error
}

var machine = sync.OnceValue(func() kernel {
	k := kernel{landlock: lookForLandlock()}
	k.filter, k.noFilter = newFilter(k.landlock.signals, false)
	if k.noFilter == nil {
		k.listener, k.noFilter = newFilter(k.landlock.signals, true)
	}
	// The os package probes pidfd support at the first use, which must not happen on a restricted thread.
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Release() // only a probe
	}
	return k
})

// system is what programs need of a Linux system: programs, libraries, fonts and the data of poppler and tesseract.
// None of it is a secret, and all of it is read-only.
var system = []grant{
	{path: "/usr/bin", rights: mayRun},
	{path: "/usr/lib", rights: mayRun},
	{path: "/usr/lib32", rights: mayRun},
	{path: "/usr/lib64", rights: mayRun},
	{path: "/usr/libexec", rights: mayRun},
	{path: "/usr/share", rights: mayRead},
	{path: "/usr/local/bin", rights: mayRun},
	{path: "/usr/local/lib", rights: mayRun},
	{path: "/usr/local/share", rights: mayRead},
	{path: "/bin", rights: mayRun}, // links into /usr on most systems
	{path: "/lib", rights: mayRun},
	{path: "/lib64", rights: mayRun},
	{path: "/nix/store", rights: mayRun},
	{path: "/etc/ld.so.cache", rights: mayRead},
	{path: "/etc/ld.so.preload", rights: mayRead},
	{path: "/etc/fonts", rights: mayRead},
	{path: "/etc/localtime", rights: mayRead},
	{path: "/etc/ssl/openssl.cnf", rights: mayRead}, // tesseract's libraries need it
	{path: "/var/cache/fontconfig", rights: mayRead},
	{path: "/sys/devices/system/cpu", rights: mayRead},
	{path: "/dev/null", rights: mayRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE},
	{path: "/dev/zero", rights: mayRead},
	{path: "/dev/full", rights: mayRead},
	{path: "/dev/random", rights: mayRead},
	{path: "/dev/urandom", rights: mayRead},
}

// sandbox is what one child may access.
type sandbox struct {
	kernel
	ruleset int // -1: no Landlock
}

// confinement prepares the restrictions of the command: it may run its program, read its files and write to
// dir, unless that is empty. The caller closes it.
func (c Command) confinement(program, dir string) (sandbox, error) {
	b := sandbox{machine(), -1}
	write := uint64(mayWrite)
	if c.Listens {
		b.filter, write = b.listener, mayListen
	}
	if c.Trusted || b.landlock.version == 0 {
		return b, nil
	}
	grants := make([]grant, 0, len(system)+len(c.Files)+len(c.Folders)+len(c.Scratch)+3)
	grants = append(grants, system...)
	grants = append(grants, grant{program, mayRun, true})
	if dir != "" {
		grants = append(grants, grant{dir, write, true})
	}
	for _, f := range c.Folders {
		grants = append(grants, grant{f, write, true})
	}
	for _, f := range c.Scratch {
		grants = append(grants, grant{f, mayScratch, true})
	}
	// a program in /opt has its libraries next to it
	if bin := filepath.Dir(program); filepath.Base(bin) == "bin" && bin != "/bin" {
		grants = append(grants, grant{filepath.Join(filepath.Dir(bin), "lib"), mayRun, false})
	}
	for _, f := range c.Files {
		grants = append(grants, grant{f, mayRead, false}) // the program itself reports a missing file
	}
	set, err := b.landlock.ruleset(grants)
	if err != nil {
		return b, fmt.Errorf("prepare Landlock: %w", err)
	}
	b.ruleset = set
	return b, nil
}

func (b sandbox) close() {
	if b.ruleset >= 0 {
		_ = unix.Close(b.ruleset) // nothing was written
	}
}

// enter restricts the calling thread permanently.
func (b sandbox) enter() error {
	// Descriptors of this process are closed on exec; this is for inherited ones. Before Linux 5.11 it fails.
	_ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if b.ruleset >= 0 {
		if err := enforce(b.ruleset); err != nil {
			return fmt.Errorf("enforce Landlock: %w", err)
		}
	}
	if b.noFilter == nil {
		if err := b.filter.install(); err != nil {
			return fmt.Errorf("filter system calls: %w", err)
		}
	}
	return nil
}

// thread starts one program from a dedicated thread. The kernel kills the program when that thread ends
// (Pdeathsig), so the thread is kept until end.
type thread struct{ over chan struct{} }

// startOn runs start on a new thread that confine has restricted.
func startOn(confine, start func() error) (thread, error) {
	t := thread{make(chan struct{})}
	started := make(chan error, 1)
	go t.run(func() error {
		if err := confine(); err != nil {
			return err
		}
		return start()
	}, started)
	err := <-started
	if err != nil {
		t.end()
	}
	return t, err
}

// run never unlocks its thread, so that the restricted thread ends with it and is never reused.
func (t thread) run(start func() error, started chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// The first thread outlives its goroutine. It is held until another one has the work.
		locked := make(chan struct{})
		go t.run(func() error { close(locked); return start() }, started)
		<-locked
		runtime.UnlockOSThread()
		return
	}
	started <- start()
	<-t.over
}

// end lets the thread end.
func (t thread) end() { close(t.over) }

// Protect shields this process from other processes of its user: they can read neither its memory and
// environment nor its descriptors (PR_SET_DUMPABLE, prctl(2)). It also disables its core dumps.
func Protect() error {
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}
