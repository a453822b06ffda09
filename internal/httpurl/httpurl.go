// Package httpurl parses the addresses of services that the worker calls, and makes transports to them.
package httpurl

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// The errors of Parse. They don't hold the address, which may contain a password.
var (
	ErrSyntax = errors.New("it is not a URL")
	ErrScheme = errors.New("it does not begin with https:// or http://")
	ErrHost   = errors.New("it names no host")
)

// Parse parses an absolute http or https URL with a host.
func Parse(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, ErrSyntax
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, ErrScheme
	case u.Hostname() == "":
		return nil, ErrHost
	}
	return u, nil
}

// Loopback reports whether a host, without its port, is this machine by a name or an address that no DNS decides.
func Loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}

// Exposed reports whether requests to an address cross a network without encryption: by http, to another machine. An
// address that is not a URL is not.
func Exposed(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http" && !Loopback(u.Hostname())
}
