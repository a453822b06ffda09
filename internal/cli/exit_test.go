package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/queue/nats"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	var listener net.ListenConfig
	other, err := listener.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, notHere := httpd.Listen(t.Context(), httpd.Config{Addr: "192.0.2.1:0"}) // of no machine: RFC 5737
	_, taken := httpd.Listen(t.Context(), httpd.Config{Addr: other.Addr().String()})
	for _, c := range []struct {
		err  error
		code int
	}{
		{errors.New("anything"), exitFailed},
		{badUsage("", "x"), exitUsage},
		{&config.Errors{}, exitConfig},
		{&task.Invalid{}, exitUsage},
		{context.Canceled, exitInterrupted},
		{context.DeadlineExceeded, exitTemporary},
		{&nats.Denied{Cause: context.DeadlineExceeded}, exitPermission}, // the server says nothing to a denied request
		{store.ErrSchema, exitConfig},
		{store.ErrForbidden, exitPermission},
		{store.ErrLogin, exitPermission},
		{store.ErrNotFound, exitFailed},
		{store.ErrConflict, exitFailed},
		{store.ErrTerminal, exitFailed},
		{fs.ErrPermission, exitPermission},
		{taskerr.Errorf(taskerr.DependencyUnavailable, "x"), exitUnavailable},
		{taskerr.Errorf(taskerr.TransientStorage, "x"), exitUnavailable},
		{taskerr.Errorf(taskerr.AIRateLimit, "x"), exitTemporary},
		{taskerr.Errorf(taskerr.ModelOverloaded, "x"), exitTemporary},
		{taskerr.Errorf(taskerr.UnsupportedFormat, "x"), exitFailed},
		{&pgconn.PgError{Code: "28P01"}, exitPermission},
		{&pgconn.PgError{Code: "42501"}, exitPermission},
		{&pgconn.PgError{Code: "57P03"}, exitUnavailable},
		{&pgconn.PgError{Code: "42601"}, exitFailed},
		{&fs.PathError{Op: "read", Path: "/etc", Err: syscall.EISDIR}, exitFailed},
		{&net.DNSError{Err: "no such host"}, exitUnavailable},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, exitUnavailable},
		{&reportedError{&config.Errors{}}, exitConfig},
		{&app.UnavailableError{}, exitUnavailable},
		{taken, exitConfig},
		{notHere, exitUnavailable},
		{&schema.LockedError{}, exitTemporary},
		{&schema.InUseError{}, exitTemporary},
		{&unknownTenantError{}, exitConfig},
	} {
		for _, err := range []error{c.err, &failure{"do", "next", c.err}, fmt.Errorf("wrapped: %w",
			c.err), errors.Join(c.err, errors.New("close"))} {
			if got := verdictOf(err).code; got != c.code {
				t.Errorf("%v: exit code %d, want %d", err, got, c.code)
			}
		}
	}
}

// TestFullDisk: the remedy is room, and not what the action that failed usually lacks.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		path := &fs.PathError{Op: "write", Path: "/srv/documents/a.pdf", Err: full}
		for _, err := range []error{
			fmt.Errorf("write the tenant: %w", path),
			&failure{"upload a.pdf", "check BLOB_DIR: is the folder there?", taskerr.Classify(path)},
		} {
			if v := verdictOf(err); v.next != nextFull {
				t.Errorf("%v: what to do: %s", err, v.next)
			}
		}
	}
}
