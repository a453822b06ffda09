package cli

import (
	"errors"
	"net"
	"strings"
	"syscall"

	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// listenError is an address of front that can't be listened on.
type listenError struct {
	addr string
	err  error
}

func (e *listenError) Error() string { return "listen on " + e.addr + ": " + e.err.Error() }
func (e *listenError) Unwrap() error { return e.err }

// verdictOfListening is for an address that the worker or front can't listen on.
func verdictOfListening(err error) (verdict, bool) {
	if e, ok := errors.AsType[*listenError](err); ok {
		return verdictOfAddress("--addr (FRONT_ADDR under systemd)", e.addr, e.err), true
	}
	if e, ok := errors.AsType[*httpd.AddrError](err); ok {
		return verdictOfAddress("HTTP_ADDR", e.Addr, e.Unwrap()), true
	}
	return verdict{}, false
}

// verdictOfAddress is for an address, and the setting that has it. Another start helps only where the address may come
// late, as that of an interface or a name does: systemd restarts the process unless its exit code is that of a setting.
func verdictOfAddress(setting, addr string, err error) verdict {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return verdict{
			exitConfig,
			"choose another " + setting + "; to find who uses this one: sudo ss -ltnp 'sport = :" + portOf(addr) + "'",
		}
	case errors.Is(err, syscall.EACCES):
		return verdict{
			exitConfig,
			"choose a port from 1024 on in " + setting + "; a lower one needs the capability CAP_NET_BIND_SERVICE",
		}
	}
	port, unknown := errors.AsType[*net.DNSError](err) // also of the name of a port
	if _, wrong := errors.AsType[*net.AddrError](err); wrong || unknown && strings.HasPrefix(port.Name, "tcp/") {
		return verdict{exitConfig, "give " + setting + " as HOST:PORT, with a port from 1 to 65535"}
	}
	return verdict{exitUnavailable, "is it an address of this machine? check " + setting}
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr) // valid as a setting
	return port
}
