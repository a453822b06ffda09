package app

import (
	"errors"

	"github.com/seed-7227ef26/async-worker/internal/azure"
)

// StorageDenied reports whether the storage account rejected a key, a signature or a role.
func StorageDenied(err error) bool {
	p, ok := errors.AsType[*azure.Problem](err)
	return ok && p.Kind == azure.Permission
}

// StorageMisnamed reports whether the storage account does not know a name or an address in the settings. A host
// that is not found doesn't count: that may be an outage of DNS.
func StorageMisnamed(err error) bool {
	p, ok := errors.AsType[*azure.Problem](err)
	return ok && p.Kind == azure.Setting && p.Status != 0
}
