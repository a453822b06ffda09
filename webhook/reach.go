package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
)

// ReachError is a request without an answer. Its text names only the kind of failure, because the tenant reads it in
// the row. Unwrap has the names and addresses, for the operator's log.
type ReachError struct {
	sort  string
	cause error
}

func (e *ReachError) Error() string { return "the receiver can't be reached: " + e.sort }

// Unwrap returns the error in full.
func (e *ReachError) Unwrap() error { return e.cause }

// unreached makes a ReachError of an error of a net/http client.
func unreached(err error) *ReachError { return &ReachError{sort: sortOf(err), cause: err} }

func sortOf(err error) string {
	var network net.Error
	_, unknown := errors.AsType[*net.DNSError](err)
	switch {
	case unknown:
		return "its name can't be resolved (DNS)"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no way to it"
	case errors.As(err, &network) && network.Timeout():
		return "timeout"
	case isTLS(err):
		return "TLS failed; is its certificate valid and publicly trusted?"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection broke"
	}
	return "no valid answer"
}

func isTLS(err error) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	return untrusted || alert || record || name || authority || invalid
}

// detail is an attempt's full error, for the log; empty: the row has it.
func (a Attempt) detail() string {
	if reach, ok := errors.AsType[*ReachError](a.Err); ok {
		return reach.cause.Error()
	}
	if refused, ok := errors.AsType[*RefusedError](a.Err); ok {
		return refused.Error()
	}
	return ""
}
