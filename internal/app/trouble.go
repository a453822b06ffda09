package app

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/azure"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/store/rpc"
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

// ServiceError is a service that failed when it was opened, or probed at the start.
type ServiceError struct {
	doing string // or which service: "the database at db:5432"
	next  string
	err   error
}

func (e *ServiceError) Error() string { return e.doing + ": " + e.err.Error() }
func (e *ServiceError) Unwrap() error { return e.err }

// NextServices says what to do about the services that failed, each once; empty: none failed, or their errors say it.
func NextServices(err error) string {
	var all []string
	for _, one := range failedServices(err) {
		if one.next != "" && !slices.Contains(all, one.next) {
			all = append(all, one.next)
		}
	}
	return strings.Join(all, "; ")
}

// failedServices are all of a tree of errors.
func failedServices(err error) (all []*ServiceError) {
	switch e := err.(type) { //nolint:errorlint // it looks at each error of the tree
	case *ServiceError:
		return []*ServiceError{e}
	case interface{ Unwrap() error }:
		return failedServices(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, failedServices(one)...)
		}
	}
	return all
}

// NextDatabase says what to do when the database fails.
func (t *Tenant) NextDatabase() string {
	setting := "SUPABASE_URL"
	if t.Config.DatabaseURL.IsSet() {
		setting = "DATABASE_URL"
	}
	if at := t.DatabaseAddress(); at != setting {
		return "is the database up at " + at + "? check " + setting
	}
	return "is the database up? check " + setting
}

// NextDatabaseAfter says what to do when the database has failed with err.
func (t *Tenant) NextDatabaseAfter(err error) string {
	return cmp.Or(rpc.RemedyOf(err), t.NextDatabase())
}

// NextDatabaseState says what to do about a database that answered with this SQLSTATE; empty: the state does not tell.
func NextDatabaseState(state string) string { return rpc.Remedy(state) }

// NextContainer says what to do when the container, or the folder in its place, fails.
func (t *Tenant) NextContainer() string {
	if t.Config.BlobBackend == config.BlobDir {
		return "check BLOB_DIR: is the folder there (the worker makes it when it starts), and writable to this user?"
	}
	return t.nextStorage()
}

func (t *Tenant) nextStorage() string {
	setting := "AZURE_STORAGE_ACCOUNT"
	if t.Config.Azure.ConnectionString.IsSet() {
		setting = "AZURE_STORAGE_CONNECTION_STRING"
	}
	return "is the storage account reachable? check " + setting
}
