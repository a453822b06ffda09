package app

import (
	"errors"

	"github.com/seed-7227ef26/async-worker/internal/azure"
)

// StorageDenied says whether err is the storage account's refusal of a key, a signature or a role.
func StorageDenied(err error) bool {
	p, ok := errors.AsType[*azure.Problem](err)
	return ok && p.Kind == azure.Permission
}

// StorageMisnamed says whether err is the storage account's answer to a name or an address in the settings
// that it does not know. A host that is not found is none: that may be an outage of DNS.
func StorageMisnamed(err error) bool {
	p, ok := errors.AsType[*azure.Problem](err)
	return ok && p.Kind == azure.Setting && p.Status != 0
}
