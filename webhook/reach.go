package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
)

// ReachError says that a request came to no answer. Its text is for the row that the tenant reads, and says the sort of
// failure alone: names and addresses that the machine found on the way are not the tenant's to know. Unwrap gives them
// to the operator's log.
type ReachError struct {
	sort  string
	cause error
}

func (e *ReachError) Error() string { return "the receiver can't be reached: " + e.sort }

// Unwrap returns the error in full.
func (e *ReachError) Unwrap() error { return e.cause }

// unreached makes a ReachError of what a client of net/http says.
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

// detail is what an attempt's error says in full, for the log; empty: no more than the row.
func (a Attempt) detail() string {
	if reach, ok := errors.AsType[*ReachError](a.Err); ok {
		return reach.cause.Error()
	}
	if refused, ok := errors.AsType[*RefusedError](a.Err); ok {
		return refused.Error()
	}
	return ""
}
