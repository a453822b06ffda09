package store

import (
	"errors"
	"net"
	"strings"
)

// DialReason returns why no connection to a service could be made, in parentheses, for operators. The store's errors omit
// it, because tenants read them. It is empty if there was a connection, or if err has the reason already.
func DialReason(err error) string {
	var reason error
	if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
		reason = dial
	} else if lookup, ok := errors.AsType[*net.DNSError](err); ok { // pgx looks names up before it dials
		reason = lookup
	}
	if reason == nil || strings.Contains(err.Error(), reason.Error()) {
		return ""
	}
	return " (" + reason.Error() + ")"
}
