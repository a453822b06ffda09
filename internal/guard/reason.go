package guard

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"syscall"
)

const (
	// TLSFailed is the Reason of an error that is Untrusted.
	TLSFailed = "TLS failed; is its certificate valid and publicly trusted?"
	// NoValidAnswer is the Reason of an error that is none of the network's: the server does not speak the protocol.
	NoValidAnswer = "no valid answer"
)

// Reason says why a request got no answer, by the kind of failure alone: the tenant may read it, and the error itself
// has names and addresses of the worker's network.
func Reason(err error) string {
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
	case Untrusted(err):
		return TLSFailed
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF),
		errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection broke"
	}
	return NoValidAnswer
}

// Untrusted reports whether an error is a failure of TLS.
func Untrusted(err error) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	_, authority := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	return untrusted || alert || record || name || authority || invalid
}
