package store

import (
	"context"
	"time"
)

// Examiner checks the rights of the key. No task needs it.
type Examiner interface {
	// Examine checks every function, table and policy that the worker needs, and changes nothing. It returns what the
	// key lacks. An error says that nothing could be checked: ErrForbidden for another client's key, ErrSchema, or a
	// *FindingError for one missing right that hides all others.
	Examine(ctx context.Context) (Examination, error)
}

// Examination is what a key may do in the database.
type Examination struct {
	Version      int       `json:"version"` // of the schema; zero: it may not be read
	Wanted       int       `json:"-"`       // version that this program needs
	Dimensions   int       `json:"dimensions"`
	Role         string    `json:"role"`
	BoundTo      string    `json:"bound_to"`     // the client that the key is for; empty: none
	EveryTenant  bool      `json:"every_tenant"` // row-level security does not apply to this key
	Now          time.Time `json:"now"`          // by the database's clock
	Findings     []Finding `json:"findings"`
	WebhookHosts []string  `json:"webhook_hosts"` // scheme and host of the last jobs' webhooks
}

// Finding is a right that the key lacks, or has and should not have.
type Finding struct {
	About   About  `json:"about"`
	Subject string `json:"subject"` // the name of the function, table or schema
	Problem string `json:"problem"`
	Mend    string `json:"mend"` // SQL for the owner of the schema; empty: migrate
}

// About is the kind of a Finding's subject.
type About string

// The kinds of subjects.
const (
	AboutVersion  About = "version"  // something does not exist
	AboutSchema   About = "schema"   // usage of a schema
	AboutFunction About = "function" // execute
	AboutTable    About = "table"    // select, insert, update, delete
	AboutPolicy   About = "policy"   // row-level security, and ways around it
	AboutCreate   About = "create"   // another role may create objects in the schema
	AboutWrite    About = "write"    // a row can't be written, for another reason
)

// FindingError is a Finding that kept Examine from checking anything else.
type FindingError struct {
	Finding

	Cause error
}

func (e *FindingError) Error() string { return e.Subject + ": " + e.Problem }
func (e *FindingError) Unwrap() error { return e.Cause }
