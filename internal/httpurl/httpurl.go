// Package httpurl parses the addresses of services that the worker calls.
package httpurl

import (
	"errors"
	"net/url"
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
