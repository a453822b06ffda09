package store

import (
	"context"
	"time"
)

// Examiner reports the rights of the key. No task calls it.
type Examiner interface {
	// Examine looks at every function, table and policy that the worker needs, and changes nothing. The answer has what
	// the key lacks. The error means that nothing could be examined: ErrSchema, ErrForbidden for another client's key,
	// or a *FindingError for a missing right that hides all others.
	Examine(ctx context.Context) (Examination, error)
}

// Examination is what a key may do in the database.
type Examination struct {
	Version      int       `json:"version"` // of the schema; zero: the key may not read it
	Wanted       int       `json:"-"`       // the version that this program needs
	Dimensions   int       `json:"dimensions"`
	Role         string    `json:"role"`
	BoundTo      string    `json:"bound_to"`     // the client of the key; empty: none
	EveryTenant  bool      `json:"every_tenant"` // row-level security does not apply to this key
	Now          time.Time `json:"now"`          // by the database's clock
	Findings     []Finding `json:"findings"`
	WebhookHosts []string  `json:"webhook_hosts"` // scheme and host of the last jobs' webhooks
	// Models are those of the indexed documents' vectors, the most frequent first. Of many documents some are
	// looked at. Nil: the database was not migrated since.
	Models []ModelCount `json:"models"`
}

// ModelCount is how many documents have vectors by a model.
type ModelCount struct {
	Model     string `json:"model"`
	Documents int    `json:"documents"`
}

// Finding is a right that the key lacks, or should not have.
type Finding struct {
	About   About  `json:"about"`
	Subject string `json:"subject"` // the name of the function, table or schema
	Problem string `json:"problem"`
	Mend    string `json:"mend"` // SQL for the owner of the schema; empty: migrate
}

// About is the subject of a Finding.
type About string

// The subjects of findings.
const (
	AboutVersion  About = "version"  // something is missing
	AboutSchema   About = "schema"   // usage of a schema
	AboutFunction About = "function" // execute
	AboutTable    About = "table"    // select, insert, update, delete
	AboutPolicy   About = "policy"   // row-level security, and ways around it
	AboutCreate   About = "create"   // others may create objects in the schema
	AboutWrite    About = "write"    // a row can't be written for another reason
)

// FindingError is a Finding that prevents all further examination.
type FindingError struct {
	Finding

	Cause error
}

func (e *FindingError) Error() string { return e.Subject + ": " + e.Problem }
func (e *FindingError) Unwrap() error { return e.Cause }
