package httpurl

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
)

// errNoHTTP is what Unquoted makes of an error that may quote an answer.
var errNoHTTP = errors.New("its answer is not HTTP")

// Unquoted returns the error of a request without what may quote the answer, or the request's address: net/http repeats
// lines and headers that it can't read, and what a service sends may be a part of a document. Errors of the network, of
// TLS and of connections that end are kept.
func Unquoted(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	var network net.Error
	_, errno := errors.AsType[syscall.Errno](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	switch {
	case err == nil, errors.As(err, &network), errno, certificate, alert, errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, http.ErrSchemeMismatch):
		return err
	}
	return errNoHTTP
}
