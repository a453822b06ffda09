package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue"
)

// The exit codes; those from 64 on are of sysexits.h.
const (
	exitOK          = 0
	exitFailed      = 1 // the command ran, and the answer is no
	exitUsage       = 2
	exitUnavailable = 69 // a dependency is down
	exitTemporary   = 75 // a retry may succeed
	exitPermission  = 77
	exitConfig      = 78
	exitInterrupted = 130 // by a signal, as in shells
)

// usageError is a wrong command line.
type usageError struct {
	err  error
	next string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func badUsage(next, format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...), next}
}

// failure adds to an error the action that failed and what to do next.
type failure struct {
	doing string
	next  string
	err   error
}

func (e *failure) Error() string { return e.doing + ": " + e.err.Error() }
func (e *failure) Unwrap() error { return e.err }

// unsureError is an interruption after which a part of the command may have been done.
type unsureError struct {
	next string
	err  error
}

func (e *unsureError) Error() string { return e.err.Error() }
func (e *unsureError) Unwrap() error { return e.err }

// What to do when a service does not answer.
const (
	nextStore      = "is the database up? check SUPABASE_URL or DATABASE_URL" // withTenant names the one in use
	nextPermission = "check the key, login or role in the settings and its rights; async-worker check-config shows " +
		"which setting is in force"
	nextModel = "is the model service reachable? check OPENAI_BASE_URL and the key, or set LLM_PROVIDER=offline " +
		"as the worker does"
)

const nextFull = "make room on the disk of that folder, and repeat the command"

const nextUnknownJob = "check the id and CLIENT_ID; async-worker jobs list shows the jobs"

// nextUnknown is what to do about an id that the tenant does not have. list is the command that shows the things.
func (p *program) nextUnknown(list, things string) string {
	if p.tenant == "" {
		return "check the id and CLIENT_ID; async-worker " + list + " shows the " + things
	}
	return "check the id; async-worker " + list + " shows the " + things + " of this tenant"
}

// fileError says in one sentence why a file could not be read. doing is the action, or the flag that names the file.
func fileError(doing, path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // its text would repeat the path, and name a system call
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %s: %w", doing, path, &missingFileError{err})
	}
	if errors.Is(err, syscall.EISDIR) {
		return &failure{doing + " " + path, "name a file in it", errors.New("it is a directory")}
	}
	return fmt.Errorf("%s %s: %w", doing, path, err)
}

// missingFileError is a file that does not exist.
type missingFileError struct{ err error }

func (*missingFileError) Error() string   { return "there is no such file" }
func (e *missingFileError) Unwrap() error { return e.err }

// nextService is what to do when the database, the queues or the container failed a command that needs them.
func nextService(t *app.Tenant, err error) string {
	if e, ok := errors.AsType[*taskerr.Error](err); ok && e.Dependency == taskerr.Database {
		return nextStore
	} else if ok && e.Dependency == taskerr.Storage {
		return t.NextContainer()
	}
	if errors.Is(err, queue.ErrTooLarge) {
		return "a message of this size goes through the container: give the command its settings, as the worker has them"
	}
	return t.NextQueues(err)
}

// report prints an error and what to do next, and returns the exit code.
func (p *program) report(err error) int {
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path == os.Stdout.Name() && errors.Is(e, syscall.EPIPE) {
		return exitFailed // the reader, such as head, has what it wanted
	}
	v := verdictOf(err)
	if _, reported := errors.AsType[*reportedError](err); reported {
		return v.code
	}
	if e, ok := errors.AsType[*config.Errors](err); ok {
		p.printProblems(p.stderr, e.Problems)
	} else if v.code == exitInterrupted {
		fmt.Fprintln(p.stderr, "async-worker: interrupted")
	} else {
		text := strings.ReplaceAll(err.Error(), context.DeadlineExceeded.Error(), "it took too long") // Go's words
		p.printMessage(p.stderr, "async-worker: ", text+store.DialReason(err))
	}
	if v.next == nextUnknownJob {
		v.next = p.nextUnknown("jobs list", "jobs")
	}
	if v.next != "" {
		p.printMessage(p.stderr, "  what to do: ", p.addressed(v.next))
	}
	return v.code
}

// printMessage wraps a text to lines, except for the daemon's journal, of which each line is a record.
func (p *program) printMessage(w io.Writer, mark, text string) {
	if p.daemon && !p.terminal(w) {
		fmt.Fprintln(w, mark+text)
		return
	}
	printWrapped(w, mark, text)
}

// reportedError is an error that the output shows already; only its exit code counts.
type reportedError struct{ err error }

func (e *reportedError) Error() string { return e.err.Error() }
func (e *reportedError) Unwrap() error { return e.err }
