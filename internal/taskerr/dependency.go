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
	Model    Dependency = "model" // embeddings
	Chat     Dependency = "chat"  // what answers questions; it may be up when the model of embeddings is not
	OCR      Dependency = "ocr"   // a model that reads pages
	Docling  Dependency = "docling"
	Privacy  Dependency = "privacy" // what finds personal data
)

// Blame notes whose fault a retryable Error is, unless that is known already, and returns err.
func Blame(d Dependency, err error) error {
	if e, ok := errors.AsType[*Error](err); ok && e.Dependency == "" && Classes[e.Class].Retryable {
		e.Dependency = d
	}
	return err
}
