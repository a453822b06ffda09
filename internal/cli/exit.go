package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
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

// What to do when a service does not answer.
const (
	nextOpen       = "are the database and the storage account up? async-worker check-config shows where they should be"
	nextStore      = "is the database up? check SUPABASE_URL or DATABASE_URL"
	nextStoreAt    = "is the database up at %s? check SUPABASE_URL or DATABASE_URL"
	nextAzure      = "is the storage account reachable? check AZURE_STORAGE_CONNECTION_STRING or AZURE_STORAGE_ACCOUNT"
	nextPermission = "check the key, login or role in the settings and its rights; async-worker check-config shows " +
		"which setting is in force"
	nextModel = "is the model service reachable? check OPENAI_BASE_URL and the key, or set LLM_PROVIDER=offline " +
		"as the worker does"
)

// nextService is what to do when the database or the storage account failed a command that needs both.
func nextService(err error) string {
	if e, ok := errors.AsType[*taskerr.Error](err); ok && e.Dependency == taskerr.Database {
		return nextStore
	}
	return nextAzure
}

// verdict is the consequence of an error.
type verdict struct {
	code int
	next string // empty: the error says it
}

// verdictOf is the table from errors to exit codes. The first match counts.
func verdictOf(err error) verdict {
	is := func(target error) bool { return errors.Is(err, target) }
	var next string
	if f, ok := errors.AsType[*failure](err); ok {
		next = f.next
	}
	if u, ok := errors.AsType[*usageError](err); ok {
		return verdict{exitUsage, u.next}
	}
	if _, ok := errors.AsType[*schema.LockedError](err); ok {
		return verdict{
			exitTemporary,
			"wait for the other migration and repeat the command; if no migration runs, end that session",
		}
	}
	if _, ok := errors.AsType[*unknownTenantError](err); ok {
		return verdict{exitConfig, next}
	}
	if _, ok := errors.AsType[*notFoundError](err); ok {
		return verdict{exitFailed, next}
	}
	// other errors pass: the address may come late
	if e, ok := errors.AsType[*httpd.AddrError](err); ok && (is(syscall.EADDRINUSE) || is(syscall.EACCES)) {
		return verdict{
			exitConfig,
			"choose another HTTP_ADDR; to find who uses this one: sudo ss -ltnp 'sport = :" + portOf(e.Addr) + "'",
		}
	}
	if d, ok := errors.AsType[*diagnosis](err); ok {
		return verdict{d.code(), ""}
	}
	if problems, ok := errors.AsType[*config.Errors](err); ok {
		if problems.Has(config.SigningName) { // its remedy is enough, and check-config does not show it
			return verdict{exitConfig, ""}
		}
		next = "fix these settings; async-worker check-config shows what is in force"
		if problems.Has("SUPABASE_URL") || problems.Has("AZURE_STORAGE_CONNECTION_STRING") {
			next += "; or add a tenant to this machine: sudo async-worker tenant add NAME"
		}
		return verdict{exitConfig, next}
	}
	if _, ok := errors.AsType[*task.Invalid](err); ok {
		return verdict{
			exitUsage, "fix the message; docs/contract.md and docs/schemas/message.schema.json describe it",
		}
	}
	if r, ok := errors.AsType[*replay.Refusal](err); ok {
		return verdict{exitFailed, r.Next}
	}
	if v, ok := statusOutcome(err, next); ok {
		return v
	}
	if _, ok := errors.AsType[*app.UnavailableError](err); ok {
		return verdict{exitUnavailable, next}
	}
	if g, ok := errors.AsType[*stillRunningError](err); ok && is(context.Canceled) {
		return verdict{exitInterrupted, g.next()}
	}
	switch {
	case is(context.Canceled):
		return verdict{exitInterrupted, ""}
	case is(store.ErrUnexposed):
		return verdict{
			exitConfig, "set DB_SCHEMA to one that it exposes; or let it expose this one (Supabase: Settings, API, " +
				"exposed schemas; PostgREST: db-schemas)",
		}
	case is(store.ErrSchema):
		return verdict{
			exitConfig, "apply it with: async-worker migrate (or paste the output of async-worker migrate --print " +
				"into the Supabase editor)",
		}
	case is(store.ErrLogin):
		return verdict{exitPermission, nextPermission}
	case is(store.ErrForbidden):
		return verdict{
			exitPermission, "use a key whose client_id claim is this CLIENT_ID: docs/database.md says how to make one",
		}
	case is(store.ErrNotFound):
		return verdict{exitFailed, "check the id and CLIENT_ID; async-worker jobs list shows the jobs"}
	case is(store.ErrConflict):
		return verdict{exitFailed, "choose another id: this id already belongs to a task with another payload"}
	case is(store.ErrReplayed):
		return verdict{
			exitFailed, "look at that job with async-worker jobs get; to repeat the task anyway: dlq " +
				"replay --again, or jobs retry --force",
		}
	case is(store.ErrExhausted):
		return verdict{exitFailed, "to reset its attempts: async-worker jobs retry --force"}
	case is(store.ErrNotFailed):
		return verdict{
			exitFailed, "async-worker jobs get shows its state; to repeat a finished task, enqueue it with --force",
		}
	case is(store.ErrNotResendable):
		return verdict{exitFailed, "async-worker webhooks list shows its state"}
	case is(store.ErrDelivered):
		return verdict{exitFailed, "to send it again anyway: async-worker webhooks resend --delivered"}
	case is(store.ErrTerminal):
		return verdict{exitFailed, "the job has finished; async-worker jobs get shows how"}
	case is(fs.ErrPermission):
		return verdict{exitPermission, "grant this user access, or run as another user"}
	case is(fs.ErrNotExist):
		return verdict{exitFailed, "check the path"}
	case is(context.DeadlineExceeded):
		return verdict{exitTemporary, next}
	}
	code := codeOf(err)
	if code == exitPermission {
		next = nextPermission // a service that refuses is up
	}
	return verdict{code, next}
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr) // valid as a setting
	return port
}

// codeOf is the exit code for an error of a service.
func codeOf(err error) int {
	// Their class is that of an outage, because a running worker retries them.
	switch {
	case app.StorageDenied(err):
		return exitPermission
	case app.StorageMisnamed(err):
		return exitConfig
	}
	if e, ok := errors.AsType[*taskerr.Error](err); ok {
		return codeOfClass(e.Class)
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch class := e.Code[:min(2, len(e.Code))]; {
		case class == "28" || e.Code == "42501": // invalid authorization, insufficient privilege
			return exitPermission
		case class == "08" || class == "53" || class == "57": // connection, resources, operator intervention
			return exitUnavailable
		}
		return exitFailed
	}
	// Not net.Error: file errors implement it too.
	_, unreachable := errors.AsType[*net.OpError](err)
	_, unknown := errors.AsType[*net.DNSError](err)
	if unreachable || unknown {
		return exitUnavailable
	}
	return exitFailed
}

func codeOfClass(class taskerr.Class) int {
	switch class {
	case taskerr.TransientStorage, taskerr.DependencyUnavailable:
		return exitUnavailable
	case taskerr.NetworkTimeout, taskerr.AIRateLimit, taskerr.ModelOverloaded, taskerr.Timeout, taskerr.WorkerLost:
		return exitTemporary
	case taskerr.ValidationError:
		return exitUsage
	default:
		return exitFailed
	}
}

// report prints an error and what to do next, and returns the exit code.
func (p *program) report(err error) int {
	if err == nil {
		return exitOK
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
		p.printMessage(p.stderr, "async-worker: ", err.Error()+store.DialReason(err))
	}
	if v.next != "" {
		p.printMessage(p.stderr, "  what to do: ", v.next)
	}
	return v.code
}

// printMessage wraps a text to lines, except for the daemon: each line is a record of its journal.
func (p *program) printMessage(w io.Writer, mark, text string) {
	if p.daemon {
		fmt.Fprintln(w, mark+text)
		return
	}
	printWrapped(w, mark, text)
}

// reportedError is an error that the output shows already; only its exit code counts.
type reportedError struct{ err error }

func (e *reportedError) Error() string { return e.err.Error() }
func (e *reportedError) Unwrap() error { return e.err }
