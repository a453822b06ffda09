// Package child runs external programs on foreign bytes: with resource limits that hold from the
// program's first instruction, a clean environment, a private temporary folder, and a kill of the
// whole process group when the task's context ends. A program reads its files and the system's programs, libraries
// and fonts, writes into its temporary folder, and has no network and no other process (Landlock and seccomp, as far as
// the kernel has them: see Confine). It works inside the service's sandbox: it needs no namespaces, no ptrace and no
// privileges.
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
)

// Limits bound what one run may cost. A zero field takes its value from DefaultLimits.
type Limits struct {
	Wait       time.Duration // how long the caller waits for it, see Command.Stdout
	Silence    time.Duration // the same from one output to the next; zero in DefaultLimits, too: as Wait
	CPU        time.Duration // processor time, rounded up to whole seconds
	Memory     int64         // bytes of its own: heap, stacks and data. What it maps of files has Mapped beside that
	Output     int64         // bytes on standard output
	File       int64         // bytes of any file it writes
	OpenFiles  int           // descriptors
	StderrTail int           // bytes of standard error that are kept, its last ones
}

// Mapped is how much address space a program has for libraries, fonts and other files, in bytes. They are not its own:
// the kernel drops them when memory is short.
const Mapped = 192 << 20

// DefaultLimits suit a converter of one document.
var DefaultLimits = Limits{
	Wait:       5 * time.Minute,
	CPU:        5 * time.Minute,
	Memory:     2 << 30,
	Output:     4 << 30,
	File:       1 << 30,
	OpenFiles:  256,
	StderrTail: 4 << 10,
}

// Command is what to run.
type Command struct {
	Program string   // looked up in our PATH unless it has a slash
	Package string   // the Debian package that has it, for the message when it is missing
	Args    []string // without the program
	Files   []string // what it reads: absolute paths of files, or of folders with all beneath them
	Env     []string // in addition to PATH, LC_ALL, HOME and TMPDIR; nothing is inherited
	Dir     string   // where its private temporary folder is made; empty: os.TempDir()
	Stdin   io.Reader

	// Trusted programs are not confined: those of the system that see no foreign bytes and talk to its services.
	Trusted bool

	// Stdout reads what the program prints, while it runs. An error from it kills the program and is
	// returned from Run as it is; what it leaves unread is discarded. The program is blocked while
	// Stdout does something else than reading, and that time doesn't count against Limits.Wait. Nil:
	// the output is thrown away.
	Stdout func(io.Reader) error

	Limits Limits // zero fields: DefaultLimits
}

// End says what ended a program.
type End string

// The ends of a program.
const (
	Exited      End = "exited"       // by itself, see Result.ExitCode
	Crashed     End = "crashed"      // by a signal that Run did not send
	WaitLimit   End = "wait_limit"   // Limits.Wait
	Silent      End = "silent"       // Limits.Silence
	CPULimit    End = "cpu_limit"    // Limits.CPU
	MemoryLimit End = "memory_limit" // it said or showed that it got no more memory
	OutputLimit End = "output_limit" // Limits.Output
	FileLimit   End = "file_limit"   // Limits.File
)

// Result is how a run went.
type Result struct {
	End      End
	ExitCode int            // of Exited; -1 otherwise
	Signal   syscall.Signal // of the others, as far as known
	Stderr   string         // the end of its standard error, valid UTF-8
	CPU      time.Duration  // processor time used
	MaxRSS   int64          // bytes; the largest resident size
}

// OK reports whether the program ended by itself with status zero.
func (r Result) OK() bool { return r.End == Exited && r.ExitCode == 0 }

// NotInstalledError is a program that is missing on this machine: a fault of its setup.
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

// afterExit is how long a dead program's pipes are read when another process still holds them: a
// process that left the program's group, which a kill of the group doesn't reach.
const afterExit = 2 * time.Second

// Run runs the command until it has ended and everything it printed was read. However it ends, no
// process of its group and no temporary file is left when Run returns. The error is a
// *NotInstalledError, the error of Stdout, one that wraps context.Cause(ctx), or a fault of the
// system; a program that fails or hits a limit is reported in the Result.
func Run(ctx context.Context, c Command) (Result, error) {
	if err := context.Cause(ctx); err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c.Program, err)
	}
	c.Limits = c.Limits.withDefaults()
	path, err := exec.LookPath(c.Program)
	if err != nil {
		return Result{}, &NotInstalledError{c.Program, c.Package}
	}
	dir, err := os.MkdirTemp(c.Dir, "child-")
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", c.Program, err)
	}
	result, err := run(ctx, c, path, dir)
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
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/nonexistent", "TMPDIR=" + dir}, c.Env...)
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
		return Result{}, fmt.Errorf("start %s: %w", c.Program, err)
	}
	defer thread.end()

	// When the machine or the service runs out of memory, the kernel takes the child and not the worker.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", cmd.Process.Pid), []byte("1000"), 0)

	g := &group{pid: cmd.Process.Pid}
	stop := context.AfterFunc(ctx, func() { g.kill(canceled) })
	defer stop()
	out := newOutput(read, c.Limits, g)
	consumed := make(chan error, 1)
	go func() { consumed <- out.consume(c.Stdout) }()

	g.awaitExit()
	out.programEnded()
	waitErr := cmd.Wait()
	err = <-consumed
	result := g.result(cmd.ProcessState, stderr.String(), c.Limits)
	switch {
	case g.reason() == canceled:
		return result, fmt.Errorf("run %s: %w", c.Program, context.Cause(ctx))
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
	if l.Silence > 0 {
		d.Silence = l.Silence
	}
	if l.CPU > 0 {
		d.CPU = l.CPU
	}
	if l.Memory > 0 {
		d.Memory = l.Memory
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
