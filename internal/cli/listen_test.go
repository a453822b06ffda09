package cli

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// What to do depends on why an address can't be listened on; only a mistake that stays ends the restarts.
func TestVerdictOfAddress(t *testing.T) {
	t.Parallel()
	bind := func(errno syscall.Errno) error {
		return &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", errno)}
	}
	for name, c := range map[string]struct {
		err  error
		code int
		next string
	}{
		"in use":      {bind(syscall.EADDRINUSE), exitConfig, "choose another ADDR; to find who uses this one: sudo ss -ltnp"},
		"a low port":  {bind(syscall.EACCES), exitConfig, "choose a port from 1024 on in ADDR"},
		"not of here": {bind(syscall.EADDRNOTAVAIL), exitUnavailable, "is it an address of this machine? check ADDR"},
		"no such host": {
			&net.OpError{Op: "listen", Err: &net.DNSError{IsNotFound: true}}, exitUnavailable,
			"is it an address of this machine? check ADDR",
		},
		"no such port": {
			&net.OpError{Op: "listen", Err: &net.AddrError{Err: "invalid port", Addr: "99999"}}, exitConfig,
			"give ADDR as HOST:PORT, with a port from 1 to 65535",
		},
		"no such name of a port": {
			&net.OpError{Op: "listen", Err: &net.DNSError{Err: "unknown port", Name: "tcp/htp", IsNotFound: true}}, exitConfig,
			"give ADDR as HOST:PORT, with a port from 1 to 65535",
		},
		"no such family": {bind(syscall.EAFNOSUPPORT), exitUnavailable, "is it an address of this machine? check ADDR"},
	} {
		if v := verdictOfAddress("ADDR", "127.0.0.1:80", c.err); v.code != c.code || !strings.HasPrefix(v.next, c.next) {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// front and the worker say the same of the same mistake.
func TestAddressOfAnother(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for addr, c := range map[string]struct {
		code int
		next string
	}{
		l.Addr().String(): {exitConfig, "what to do: choose another %s; to find who uses this one: sudo ss -ltnp"},
		"192.0.2.1:9090":  {exitUnavailable, "what to do: is it an address of this machine? check %s"}, // RFC 5737
	} {
		invoke(t, app.Tenant{}, nil, "", "front", "--addr", addr, "--runtime", t.TempDir()).want(t, c.code,
			"listen on "+addr+": ", fmt.Sprintf(c.next, "--addr (FRONT_ADDR under systemd)"))
		_, err := httpd.Listen(t.Context(), httpd.Config{Addr: addr})
		v := verdictOf(&failure{"start", "", err})
		if v.code != c.code || !strings.Contains("what to do: "+v.next, fmt.Sprintf(c.next, "HTTP_ADDR")) {
			t.Errorf("HTTP_ADDR=%s: %+v", addr, v)
		}
	}
}
