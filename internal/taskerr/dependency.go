package taskerr

import "errors"

// Dependency is a service that work may need. An Error that is its fault names it, so that a circuit
// breaker can tell a service that is down from a task that is bad.
type Dependency string

// The dependencies.
const (
	Database Dependency = "database" // the store
	Storage  Dependency = "storage"  // the container of blobs
	Queues   Dependency = "queues"
	Model    Dependency = "model"    // embeddings
	Chat     Dependency = "chat"     // what answers questions; it may be up when the model of embeddings is not
	Contexts Dependency = "contexts" // a model that says where chunks belong
	OCR      Dependency = "ocr"      // a model that reads pages
	Docling  Dependency = "docling"
	Privacy  Dependency = "privacy" // what finds personal data
	Gateway  Dependency = "gateway" // what makes XML of invoices
	Machine  Dependency = "machine" // the worker's own: its disk of temporary files, its open files, its memory
)

// DownCode is the error code of a job that has waited too long for the service, where the contract has one; empty: that
// of the class.
func (d Dependency) DownCode() string {
	if d == Gateway {
		return "GW_5XX"
	}
	return ""
}

// Down says that the service can't be used now.
func (d Dependency) Down() string {
	if d == Machine {
		return "the worker's machine lacks disk space, open files or memory"
	}
	return "the " + string(d) + " is down"
}

// Blame notes whose fault a retryable Error is, unless that is known already, and returns err.
func Blame(d Dependency, err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Dependency == "" && Classes[e.Class].Retryable {
		e.Dependency = d
	}
	return err
}
