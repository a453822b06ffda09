package store

import (
	"errors"
	"net"
	"strings"
)

// DialReason is why no connection to a service came to be, in brackets, for those who run it: the store's errors leave
// it out, since tenants read them. Empty: one did, or err says it already.
func DialReason(err error) string {
	dial, ok := errors.AsType[*net.OpError](err)
	if !ok || dial.Op != "dial" || strings.Contains(err.Error(), dial.Error()) {
		return ""
	}
	return " (" + dial.Error() + ")"
}
