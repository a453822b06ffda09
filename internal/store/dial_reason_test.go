package store_test

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestDialReason(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{
		Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}, Err: syscall.ECONNREFUSED,
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&taskerr.Error{
			Class: taskerr.TransientStorage, Message: "the database did not answer aw_jobs",
			Cause: refused,
		}, " (dial tcp 127.0.0.1:9: connection refused)"},
		{&taskerr.Error{
			Class: taskerr.TransientStorage, Message: "the database did not answer aw_jobs",
			Cause: &net.DNSError{Err: "no such host", Name: "db.invalid", IsNotFound: true},
		}, " (lookup db.invalid: no such host)"},
		{fmt.Errorf("connect: %w", refused), ""}, // the text has the reason
		{&taskerr.Error{
			Class: taskerr.TransientStorage, Message: "cut",
			Cause: &net.OpError{Op: "read", Err: syscall.ECONNRESET},
		}, ""},
		{errors.New("a schema that is too old"), ""},
	} {
		if got := store.DialReason(c.err); got != c.want {
			t.Errorf("%v: got %q, want %q", c.err, got, c.want)
		}
	}
}
