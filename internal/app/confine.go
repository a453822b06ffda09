package app

import (
	"errors"

	"github.com/seed-7227ef26/async-worker/internal/child"
)

// Protect keeps this process's secrets from other processes of its user, the parsers among them. A program calls it
// before it reads a setting.
func Protect() error { return child.Protect() }

// warnOfSandbox says once what parsers are not confined by on this machine; `doctor` says it, too.
func (t *Tenant) warnOfSandbox() {
	c := child.Confine()
	if missing := errors.Join(c.NoLandlock, c.NoSeccomp); missing != nil {
		t.log.Warn("parsers are not fully confined here: a document that takes one over could read what the worker can",
			"reason", missing)
	}
}
