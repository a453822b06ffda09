package app

import (
	"errors"

	"github.com/seed-7227ef26/async-worker/internal/child"
)

// Protect protects this process's secrets from other processes of its user, the parsers among them. A program calls
// it before it reads a setting.
func Protect() error { return child.Protect() }

// warnOfSandbox logs which protection of the parsers is missing on this machine; `doctor` reports it, too.
func (t *Tenant) warnOfSandbox() {
	c := child.Confine()
	if missing := errors.Join(c.NoLandlock, c.NoSeccomp); missing != nil {
		t.log.Warn("parsers are not fully sandboxed: a malicious document could read what the worker can",
			"reason", missing)
	}
}
