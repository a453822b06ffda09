package app

import (
	"errors"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/queue"
)

// StorageDenied reports whether the storage account or the queues' server rejected a key, a signature or a role.
func StorageDenied(err error) bool {
	p, ok := errors.AsType[*azure.Problem](err)
	return ok && p.Kind == azure.Permission || errors.Is(err, queue.ErrDenied)
}

// StorageMisnamed reports whether the storage account or the queues' server does not know a name or an address in the
// settings. A host that is not found doesn't count: that may be an outage of DNS.
func StorageMisnamed(err error) bool {
	p, ok := errors.AsType[*azure.Problem](err)
	return ok && p.Kind == azure.Setting && p.Status != 0 || errors.Is(err, queue.ErrSetting)
}
