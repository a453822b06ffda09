package store

import (
	"errors"
	"net"
	"strings"
)

// DialReason returns why no connection to a service could be made, in parentheses, for operators. The store's errors omit
// it, because tenants read them. It is empty if there was a connection, or if err has the reason already.
func DialReason(err error) string {
	dial, ok := errors.AsType[*net.OpError](err)
	if !ok || dial.Op != "dial" || strings.Contains(err.Error(), dial.Error()) {
		return ""
	}
	return " (" + dial.Error() + ")"
}
