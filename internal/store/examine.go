package store

import (
	"context"
	"time"
)

// Examiner tells what the key may do. None of it is on a task's way.
type Examiner interface {
	// Examine looks at every function, table and policy that the worker needs, and changes nothing. What the key
	// lacks is in the answer; an error says that nothing could be looked at, e.g. ErrForbidden for another client's
	// key,
	// *FindingError for one missing right that hides all others, ErrSchema.
	Examine(ctx context.Context) (Examination, error)
}

// Examination is what a key may do in the database.
type Examination struct {
	Version      int       `json:"version"` // of the schema; zero: it may not be read
	Wanted       int       `json:"-"`       // the version that this program needs
	Dimensions   int       `json:"dimensions"`
	Role         string    `json:"role"`
	BoundTo      string    `json:"bound_to"`     // the client that the key is for; empty: none
	EveryTenant  bool      `json:"every_tenant"` // row-level security does not hold for this key
	Now          time.Time `json:"now"`          // by the database's clock
	Findings     []Finding `json:"findings"`
	WebhookHosts []string  `json:"webhook_hosts"` // scheme and host of the last jobs' webhooks
}

// Finding is something that the key lacks, or has too much of.
type Finding struct {
	About   About  `json:"about"`
	Subject string `json:"subject"` // the name of the function, table or schema
	Problem string `json:"problem"`
	Mend    string `json:"mend"` // SQL for the owner of the schema; empty: migrate
}

// About says what sort of thing a Finding is about.
type About string

// What a Finding is about.
const (
	AboutVersion  About = "version"  // something is not there
	AboutSchema   About = "schema"   // usage of a schema
	AboutFunction About = "function" // execute
	AboutTable    About = "table"    // select, insert, update, delete
	AboutPolicy   About = "policy"   // row-level security, and what goes past it
	AboutCreate   About = "create"   // somebody may create things in the schema
	AboutWrite    About = "write"    // a row can't be written, for another reason
)

// FindingError is a Finding that kept Examine from looking at anything else.
type FindingError struct {
	Finding

	Cause error
}

func (e *FindingError) Error() string { return e.Subject + ": " + e.Problem }
func (e *FindingError) Unwrap() error { return e.Cause }
