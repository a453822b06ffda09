package webhook

import (
	"net/netip"

	"github.com/seed-7227ef26/async-worker/internal/guard"
)

// Guard keeps webhooks from internal addresses.
type Guard = guard.Guard

// RefusedError means that a receiver may not be called. It is permanent.
type RefusedError = guard.RefusedError

// subject is the subject of errors about a receiver.
const subject = "the receiver"

// NewGuard makes a guard that allows public addresses, over https, and those of the given networks, over http too.
func NewGuard(allow []netip.Prefix) *Guard {
	return guard.New(guard.Config{Allow: allow, Subject: subject, Setting: "WEBHOOK_ALLOW_CIDRS"})
}
