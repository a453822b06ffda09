package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/replay"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// verdict is the consequence of an error.
type verdict struct {
	code int
	next string // empty: the error says it
}

// verdictOf turns an error into an exit code and advice. The first match counts.
func verdictOf(err error) verdict {
	var next string
	if f, ok := errors.AsType[*failure](err); ok {
		next = f.next
	}
	if v, ok := verdictOfType(err, next); ok {
		return v
	}
	for _, known := range knownErrors() {
		if errors.Is(err, known.target) {
			return known.verdict
		}
	}
	// the server of NATS does not answer what it denies
	if errors.Is(err, context.DeadlineExceeded) && !app.StorageDenied(err) {
		return verdict{exitTemporary, next}
	}
	code := codeOf(err)
	switch {
	case code == exitPermission:
		next = nextPermission // a service that refuses is up
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		next = nextFull // whatever else might be wrong with the folder
	}
	return verdict{code, next}
}

// verdictOfType is for errors that a type distinguishes.
func verdictOfType(err error, next string) (verdict, bool) {
	if u, ok := errors.AsType[*usageError](err); ok {
		return verdict{exitUsage, u.next}, true
	}
	if _, ok := errors.AsType[*schema.LockedError](err); ok {
		return verdict{
			exitTemporary,
			"wait for the other migration and repeat the command; if no migration runs, end that session",
		}, true
	}
	if _, ok := errors.AsType[*schema.InUseError](err); ok {
		return verdict{
			exitTemporary,
			"wait for the end of that session's transaction, which may be a backup's, or end the session; then repeat the command",
		}, true
	}
	if _, ok := errors.AsType[*schema.UnansweredError](err); ok {
		return verdict{exitTemporary, next}, true
	}
	if _, ok := errors.AsType[*notOwnerError](err); ok {
		return verdict{exitPermission, nextOwner}, true
	}
	if _, ok := errors.AsType[*unknownTenantError](err); ok {
		return verdict{exitConfig, next}, true
	}
	if _, ok := errors.AsType[*notFoundError](err); ok {
		return verdict{exitFailed, next}, true
	}
	if e, ok := errors.AsType[*cognee.Error](err); ok {
		if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden {
			return verdict{exitPermission, next}, true
		}
		return verdict{exitUnavailable, next}, true
	}
	if v, ok := verdictOfListening(err); ok {
		return v, true
	}
	if r, ok := errors.AsType[*store.RefusedError](err); ok {
		return verdict{exitPermission, r.Next()}, true
	}
	if d, ok := errors.AsType[*diagnosis](err); ok {
		return verdict{d.code(), ""}, true
	}
	if problems, ok := errors.AsType[*config.Errors](err); ok {
		return verdict{exitConfig, cmp.Or(next, nextSettings(problems))}, true
	}
	if _, ok := errors.AsType[*task.Invalid](err); ok {
		return verdict{
			exitUsage, "fix the message; docs/contract.md and docs/schemas/message.schema.json describe it",
		}, true
	}
	if r, ok := errors.AsType[*replay.Refusal](err); ok {
		return verdict{exitFailed, r.Next}, true
	}
	if v, ok := statusOutcome(err, next); ok {
		return v, true
	}
	if _, ok := errors.AsType[*app.UnavailableError](err); ok {
		return verdict{exitUnavailable, next}, true
	}
	if g, ok := errors.AsType[*stillRunningError](err); ok && errors.Is(err, context.Canceled) {
		return verdict{exitInterrupted, g.next()}, true
	}
	if u, ok := errors.AsType[*unsureError](err); ok && errors.Is(err, context.Canceled) {
		return verdict{exitInterrupted, u.next}, true
	}
	return verdict{}, false
}

// lacksServices reports whether the settings name no database, or no storage account.
func lacksServices(problems *config.Errors) bool {
	return problems.Has("SUPABASE_URL") || problems.Has("AZURE_STORAGE_CONNECTION_STRING")
}

// nextSettings is what to do about wrong settings.
func nextSettings(problems *config.Errors) string {
	if problems.Has(config.SigningName) { // its remedy is enough, and check-config does not show it
		return ""
	}
	next := "fix these settings; async-worker check-config shows what is in force"
	if lacksServices(problems) {
		next += "; or add a tenant to this machine: sudo async-worker tenant add NAME"
	}
	return next
}

// knownError is an error with a verdict of its own.
type knownError struct {
	target error
	verdict
}

func knownErrors() []knownError {
	return []knownError{
		{context.Canceled, verdict{exitInterrupted, ""}},
		{store.ErrUnexposed, verdict{exitConfig, store.NextUnexposed}},
		{store.ErrDimensions, verdict{exitConfig, "set EMBEDDING_DIMENSIONS to that of the database, or use another DB_SCHEMA"}},
		{store.ErrSchema, verdict{exitConfig, "apply it with: async-worker migrate, with this worker's DB_SCHEMA and " +
			"EMBEDDING_DIMENSIONS if it has its own (or paste the output of async-worker migrate --print into the Supabase editor)"}},
		{store.ErrLogin, verdict{exitPermission, store.NextLogin}},
		{store.ErrForbidden, verdict{
			exitPermission,
			"use a key whose client_id claim is this CLIENT_ID: docs/database.md says how to make one",
		}},
		{store.ErrNotFound, verdict{exitFailed, nextUnknownJob}},
		{store.ErrConflict, verdict{
			exitFailed,
			"choose another id: this id already belongs to a task with another payload",
		}},
		{store.ErrRunWaits, verdict{
			exitFailed, "async-worker jobs get shows it; async-worker jobs cancel gives it up, and the run that is under way",
		}},
		{store.ErrReplayed, verdict{exitFailed, "look at that job with async-worker jobs get; to repeat the task " +
			"anyway: async-worker dlq replay --again, or async-worker jobs retry --force"}},
		{store.ErrExhausted, verdict{exitFailed, "to reset its attempts: async-worker jobs retry --reset-attempts"}},
		{store.ErrNotFailed, verdict{
			exitFailed,
			"async-worker jobs get shows its state; to repeat a finished task, enqueue it with --force",
		}},
		{store.ErrNotResendable, verdict{exitFailed, "async-worker webhooks list shows its state"}},
		{store.ErrDelivered, verdict{exitFailed, "to send it again anyway: async-worker webhooks resend --delivered"}},
		{store.ErrTerminal, verdict{exitFailed, "the job has finished; async-worker jobs get shows how"}},
		{fs.ErrPermission, verdict{exitPermission, "grant this user access, or run as another user"}},
		{fs.ErrNotExist, verdict{exitFailed, "check the path"}},
	}
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
