// Package child runs external programs on untrusted input: with resource limits from the program's first
// instruction on, a clean environment, a private temporary folder, and a kill of the whole process group when
// the task's context ends. A program reads its files and the system's programs, libraries and fonts, writes
// into its temporary folder, and has no network and no access to other processes (Landlock and seccomp, as far
// as the kernel supports them: see Confine). It works inside the service's sandbox: it needs no namespaces, no
// ptrace and no privileges.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/disk"
)

// Limits limit the cost of one run. A zero field takes its value from DefaultLimits.
type Limits struct {
	Wait        time.Duration // how long the caller waits for it, see Command.Stdout
	IdleTimeout time.Duration // Wait for one output; zero, also in DefaultLimits: only Wait counts
	CPU         time.Duration // processor time, rounded up to whole seconds
	Memory      int64         // bytes of its own: heap, stacks and data
	Mapped      int64         // bytes of address space for mapped files, see Mapped
	Output      int64         // bytes on standard output
	File        int64         // bytes of each file it writes
	OpenFiles   int           // descriptors
	StderrTail  int           // the last bytes of standard error that are kept
}

// Mapped is a program's address space for libraries, fonts and other files, in bytes. They are not charged to
// it: the kernel drops them if memory is short.
const Mapped = 192 << 20

// DefaultLimits suit a converter of one document.
var DefaultLimits = Limits{
	Wait:       5 * time.Minute,
	CPU:        5 * time.Minute,
	Memory:     2 << 30,
	Mapped:     Mapped,
	Output:     4 << 30,
	File:       1 << 30,
	OpenFiles:  256,
	StderrTail: 4 << 10,
}

// Command is a program to run.
type Command struct {
	Program string   // looked up in the PATH of this process unless it has a slash
	Package string   // its Debian package, for the message if it is missing
	Args    []string // without the program
	Files   []string // the files it reads: absolute paths of files, or of folders with everything below them
	Env     []string // in addition to PATH, LC_ALL, HOME and TMPDIR; nothing is inherited
	Folders []string // existing folders that it also writes to, and that stay
	Scratch []string // existing folders where it makes files of its own, and neither lists nor does anything else
	Dir     string   // for its private temporary folder; empty: os.TempDir()
	// NoFolder is for programs that write only to their output: they have no temporary folder, which costs time, and
	// can't write anywhere else.
	NoFolder bool
	Stdin    io.Reader

	// Trusted programs are not confined: system programs that read no untrusted input and talk to the system's
	// services.
	Trusted bool
	// Listens allows it to listen on a UNIX socket in its folders, as programs do that run once per user. It can't
	// connect to any.
	Listens bool

	// Stdout reads the program's output while it runs. Its error kills the program and is returned from Run
	// unchanged; unread output is discarded. The program blocks while Stdout is not reading, and that time
	// doesn't count toward Limits.Wait. Nil: the output is discarded.
	Stdout func(io.Reader) error

	Limits Limits // zero fields: DefaultLimits
}

// End is what ended a program.
type End string

// The ends of a program.
const (
	Exited      End = "exited"       // on its own, see Result.ExitCode
	Crashed     End = "crashed"      // by a signal that Run did not send
	WaitLimit   End = "wait_limit"   // Limits.Wait
	Idle        End = "silent"       // Limits.IdleTimeout
	CPULimit    End = "cpu_limit"    // Limits.CPU
	MemoryLimit End = "memory_limit" // it reported or showed that it got no more memory
	OutputLimit End = "output_limit" // Limits.Output
	FileLimit   End = "file_limit"   // Limits.File
)

// Result is the result of a run.
type Result struct {
	End      End
	ExitCode int            // of Exited; otherwise -1
	Signal   syscall.Signal // of the others, if known
	Stderr   string         // the end of its standard error, valid UTF-8
	CPU      time.Duration  // processor time used
	MaxRSS   int64          // peak resident size in bytes
}

// OK reports whether the program exited with status zero.
func (r Result) OK() bool { return r.End == Exited && r.ExitCode == 0 }

// ErrKilled means that a program was killed by somebody else than Run: by the kernel, for lack of memory. It says nothing
// about what the program read.
var ErrKilled = fmt.Errorf("it was killed from outside: %w", syscall.ENOMEM)

// NotInstalledError is a program that is missing on this machine, which is a fault of its setup.
type NotInstalledError struct {
	Program string
	Package string
}

func (e *NotInstalledError) Error() string {
	if e.Package == "" {
		return e.Program + " is not installed"
	}
	return fmt.Sprintf("%s is not installed; install %s", e.Program, e.Package)
}

// afterExit is how long a dead program's pipes are read while another process still holds them: one that left
// the program's process group, which a kill of the group doesn't reach.
const afterExit = 2 * time.Second

// Run runs the command until it has ended and all of its output was read. When Run returns, no process of its
// group and no temporary file is left, however it ended. The error is a *NotInstalledError, the error of
// Stdout, one that wraps context.Cause(ctx), or a fault of the system, such as ErrKilled or a full disk. A program that fails or
// reaches a limit is reported in the Result.
func Run(ctx context.Context, c Command) (Result, error) {
	if err := context.Cause(ctx); err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c.Program, err)
	}
	c.Limits = c.Limits.withDefaults()
	path, err := exec.LookPath(c.Program)
	if err != nil {
		return Result{}, &NotInstalledError{c.Program, c.Package}
	}
	if c.NoFolder {
		return run(ctx, c, path, "")
	}
	dir, err := os.MkdirTemp(c.Dir, "child-")
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c.Program, err)
	}
	result, err := run(ctx, c, path, dir)
	if err == nil {
		err = c.checkRoom(result, dir, disk.Free)
	}
	if e := os.RemoveAll(dir); e != nil && err == nil {
		err = fmt.Errorf("remove the temporary folder of %s: %w", c.Program, e)
	}
	return result, err
}

func run(ctx context.Context, c Command, path, dir string) (Result, error) {
	confine, err := c.confinement(path, dir)
	if err != nil {
		return Result{}, fmt.Errorf("confine %s: %w", c.Program, err)
	}
	defer confine.close()
	read, write, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c.Program, err)
	}
	defer read.Close()
	stderr := &tail{max: c.Limits.StderrTail}
	cmd := limited(c.Limits, path, c.Args)
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/nonexistent"}
	if dir != "" {
		cmd.Dir, cmd.Env = dir, append(cmd.Env, "TMPDIR="+dir)
	}
	cmd.Env = append(cmd.Env, c.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, write, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = afterExit
	thread, err := startOn(func() error {
		if c.Trusted {
			return nil
		}
		return confine.enter()
	}, cmd.Start)
	write.Close()
	if err != nil {
		return Result{}, fmt.Errorf("start %s: %w", c.Program, lackingFiles(err))
	}
	defer thread.end()

	// If the machine or the service runs out of memory, the kernel kills the child instead of the worker.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", cmd.Process.Pid), []byte("1000"), 0)

	g := &group{pid: cmd.Process.Pid}
	stop := context.AfterFunc(ctx, func() { g.kill(canceled) })
	defer stop()
	out := newOutput(read, c.Limits, g)
	consumed := make(chan error, 1)
	go func() { consumed <- out.consume(c.Stdout) }()

	g.awaitExit()
	out.programEnded()
	defer context.AfterFunc(ctx, out.abandon)()
	waitErr := cmd.Wait()
	err = <-consumed
	result := g.result(cmd.ProcessState, stderr.String(), c.Limits)
	switch {
	case g.reason() == canceled:
		return result, fmt.Errorf("run %s: %w", c.Program, context.Cause(ctx))
	case result.End == Crashed && result.Signal == syscall.SIGKILL && g.reason() == "":
		return result, fmt.Errorf("run %s: %w", c.Program, ErrKilled)
	case err != nil && result.End != OutputLimit && result.End != WaitLimit:
		return result, err
	case waitErr != nil && cmd.ProcessState == nil:
		return result, fmt.Errorf("wait for %s: %w", c.Program, waitErr)
	case result.End == Exited && result.ExitCode == limitsRefused:
		return result, fmt.Errorf("run %s: its limits could not be set: %w", c.Program, errors.New(result.Stderr))
	}
	return result, nil
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	if l.Wait > 0 {
		d.Wait = l.Wait
	}
	if l.IdleTimeout > 0 {
		d.IdleTimeout = l.IdleTimeout
	}
	if l.CPU > 0 {
		d.CPU = l.CPU
	}
	if l.Memory > 0 {
		d.Memory = l.Memory
	}
	if l.Mapped > 0 {
		d.Mapped = l.Mapped
	}
	if l.Output > 0 {
		d.Output = l.Output
	}
	if l.File > 0 {
		d.File = l.File
	}
	if l.OpenFiles > 0 {
		d.OpenFiles = l.OpenFiles
	}
	if l.StderrTail > 0 {
		d.StderrTail = l.StderrTail
	}
	return d
}
