package store

import (
	"errors"
	"net"
	"strings"
)

// DialReason returns why a connection to a service failed, in parentheses, for the operator's log: the store's errors
// omit it, since tenants read them. It returns "" if err is not about a connection, or has the reason in its text.
func DialReason(err error) string {
	dial, ok := errors.AsType[*net.OpError](err)
	if !ok || dial.Op != "dial" || strings.Contains(err.Error(), dial.Error()) {
		return ""
	}
	return " (" + dial.Error() + ")"
}
