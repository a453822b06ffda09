package child

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reason is why this process killed a program; empty: it didn't.
type reason string

const (
	canceled reason = "canceled"       // its caller's context ended
	unwanted reason = "unwanted"       // its reader returned an error
	tooLong  reason = "took too long"  // Limits.Wait
	idle     reason = "was silent"     // Limits.IdleTimeout
	tooMuch  reason = "wrote too much" // Limits.Output
)

// group is the process group of a program, led by it.
type group struct {
	pid int

	mu   sync.Mutex
	why  reason // the first one is kept
	over bool   // the leader has ended: its id must not be signaled again
}

// kill kills every process of the group.
func (g *group) kill(why reason) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return
	}
	if g.why == "" {
		g.why = why
	}
	_ = syscall.Kill(-g.pid, syscall.SIGKILL) // ESRCH: it has already ended
}

// note keeps why a program's output is not read to its end, if nothing else was the reason before.
func (g *group) note(why reason) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.why == "" {
		g.why = why
	}
}

// awaitExit returns when the leader has ended and no process of its group is left. The leader is not reaped
// yet, so that its id can't be reused while the group is killed.
func (g *group) awaitExit() {
	for {
		err := unix.Waitid(unix.P_PID, g.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = syscall.Kill(-g.pid, syscall.SIGKILL)
	g.over = true
}

func (g *group) reason() reason {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.why
}

// result reports how the leader ended.
func (g *group) result(state *os.ProcessState, stderr string, l Limits) Result {
	r := Result{End: Crashed, ExitCode: -1, Stderr: stderr}
	if state == nil {
		return r
	}
	r.CPU = state.UserTime() + state.SystemTime()
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		r.MaxRSS = usage.Maxrss << 10
	}
	status, _ := state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		r.Signal = status.Signal()
	}
	switch why := g.reason(); {
	case why == tooLong:
		r.End = WaitLimit
	case why == idle:
		r.End = Idle
	case why == tooMuch:
		r.End = OutputLimit
	case r.Signal == syscall.SIGXCPU || r.Signal == syscall.SIGKILL && r.CPU >= l.CPU-50*time.Millisecond:
		r.End = CPULimit
	case r.Signal == syscall.SIGXFSZ:
		r.End = FileLimit
	case (r.Signal != 0 || status.ExitStatus() != 0) && reportsNoMemory(stderr):
		r.End = MemoryLimit
	case status.Exited():
		r.End, r.ExitCode = Exited, status.ExitStatus()
	}
	return r
}

// reportsNoMemory recognizes the messages of C, C++ and Go programs.
func reportsNoMemory(stderr string) bool {
	s := strings.ToLower(stderr)
	for _, phrase := range []string{
		"out of memory", "bad_alloc", "cannot allocate memory", "memory exhausted",
		"failed to map segment", "cannot map zero-fill pages", // of the loader
	} {
		if strings.Contains(s, phrase) {
			return true
		}
	}
	return false
}
