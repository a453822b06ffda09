package store

import (
	"context"
	"errors"
	"time"
)

// ErrCogneeLost means that the caller's claim of work for Cognee ran out, and another worker may have it. Nothing was
// written.
var ErrCogneeLost = errors.New("the work for Cognee is no longer held by this worker")

// Cognee are the transactions of the outbox for Cognee. Complete notes there which documents were activated or deleted,
// once OpenCognee was called.
type Cognee interface {
	// OpenCognee begins to note the tenant's documents. Those from before are not noted: see RequeueCognee.
	OpenCognee(ctx context.Context) error
	// CloseCognee ends that, and removes what was noted, of so many documents.
	CloseCognee(ctx context.Context) (documents int, err error)
	// ClaimCognee leases up to Max due documents and datasets to one worker.
	ClaimCognee(ctx context.Context, c CogneeClaim) (CogneeWork, error)
	// ExtendCognee renews leases, and returns those that are still held. A lease of zero gives them back.
	ExtendCognee(ctx context.Context, held CogneeHeld, lease time.Duration) (CogneeKept, error)
	// CogneeText reads a part of the text of a version.
	CogneeText(ctx context.Context, q CogneeTextQuery) (CogneeText, error)
	// SettleCognee records an attempt at a document. ErrCogneeLost.
	SettleCognee(ctx context.Context, o CogneeOutcome) (CogneeSettled, error)
	// SettleCognify records a request about a dataset. ErrCogneeLost.
	SettleCognify(ctx context.Context, o CognifyOutcome) (CogneeSettled, error)

	// CogneeState is the outbox for metrics and people.
	CogneeState(ctx context.Context) (CogneeState, error)
	// RetryCognee makes what was refused or failed due again.
	RetryCognee(ctx context.Context) (CogneeRetried, error)
	// CogneeIndex lists the documents of the index with what is noted of them, by id.
	CogneeIndex(ctx context.Context, after string, limit int) (CogneeIndex, error)
	// RequeueCognee makes documents due, unless they are, or were sent after before. It returns how many it made due.
	RequeueCognee(ctx context.Context, documents []CogneeItem, before time.Time) (int, error)
	// CogneeGone returns those of at most 1000 document ids that the index does not have.
	CogneeGone(ctx context.Context, ids []string) ([]string, error)
}

// CogneeClaim asks for work.
type CogneeClaim struct {
	Worker string        `json:"worker"`
	Max    int           `json:"max"` // 1-100
	Lease  time.Duration `json:"-"`   // sent as lease_ms
	// Quiet is for how long a document set must not have changed until Cognee is asked to work on it. Gather bounds how
	// long its changes wait for that. Sent as quiet_ms and gather_ms.
	Quiet  time.Duration `json:"-"`
	Gather time.Duration `json:"-"`
}

// CogneeWork is the answer to a CogneeClaim.
type CogneeWork struct {
	Documents []CogneeDocument
	Datasets  []CogneeDataset
	Down      bool          // Cognee is down, and the work is a probe
	Next      time.Duration // until there may be more; zero: nothing waits
}

// CogneeDocument is a claimed document. What Cognee is to have is Version; zero: the document is to be forgotten.
type CogneeDocument struct {
	DocumentID  string `json:"document_id"`
	Fence       int64  `json:"fence"`
	DocumentSet string `json:"document_set"`
	Version     int    `json:"version"`
	Sent        int    `json:"sent"`       // the version that Cognee has; zero: none, or it is not known
	DataID      string `json:"data_id"`    // Cognee's name for the document; empty: not known
	DatasetID   string `json:"dataset_id"` // and for its dataset
	Attempts    int    `json:"attempts"`   // that failed
	Tried       bool   `json:"tried"`      // something may have been sent before
	InGraph     bool   `json:"in_graph"`   // what Cognee has is in its graph

	Filename      string `json:"filename"`
	Pages         int    `json:"pages"` // zero: the format has none
	ContentSHA256 string `json:"content_sha256"`
}

// CogneeDataset is a claimed document set that Cognee is to work on, or works on.
type CogneeDataset struct {
	DocumentSet string
	Fence       int64
	DatasetID   string
	Running     bool          // Cognee was asked, and may have finished
	RunningFor  time.Duration // with Running
	Attempts    int           // that failed
	Changes     int           // documents that a run covers, at most
}

// CogneeHeld names claims.
type CogneeHeld struct {
	Documents []CogneeLease   `json:"documents"`
	Datasets  []CognifyHolder `json:"datasets"`
	Probe     bool            `json:"probe"` // one of them probes an outage: the next probe waits for it
}

// CogneeLease names the claim of a document.
type CogneeLease struct {
	DocumentID string `json:"document_id"`
	Fence      int64  `json:"fence"`
}

// CognifyHolder names the claim of a dataset.
type CognifyHolder struct {
	DocumentSet string `json:"document_set"`
	Fence       int64  `json:"fence"`
}

// CogneeKept are the ids of documents, and the sets, of claims that are still held.
type CogneeKept struct {
	Documents []string `json:"documents"`
	Datasets  []string `json:"datasets"`
}

// CogneeTextQuery asks for chunks of a version, from a position on.
type CogneeTextQuery struct {
	DocumentID string `json:"document_id"`
	Version    int    `json:"version"`
	From       int    `json:"from"`
	Limit      int    `json:"limit"` // 1-1000
}

// CogneeText are chunks of a version, in order.
type CogneeText struct {
	Active bool     `json:"active"` // false: another version is, and there are no chunks
	Chunks []string `json:"chunks"` // Markdown
}

// The outcomes of an attempt at a document.
const (
	CogneeSent      = "sent"
	CogneeForgotten = "forgotten"
	CogneeReplaced  = "replaced" // by a newer version, before anything was sent
	CogneeRetry     = "retry"
	CogneeRefused   = "refused" // Cognee will never take it
	CogneeFailed    = "failed"  // as a status only: after the last retry
)

// What an attempt shows of Cognee itself. Empty: nothing.
const (
	CogneeUp      = "up"
	CogneeFailing = "failing" // the document may be the cause; three different ones in a row mean CogneeDown
	CogneeDown    = "down"
)

// CogneeHealth is what an attempt shows of Cognee itself.
type CogneeHealth struct {
	Health     string        `json:"health,omitempty"`
	Probe      bool          `json:"probe"` // the work was claimed with CogneeWork.Down
	FirstProbe time.Duration `json:"-"`     // sent as probe_ms: the first wait of an outage
	RetryAfter time.Duration `json:"-"`     // from the answer; sent as retry_after_ms
	Error      string        `json:"error"` // for people
}

// CogneeOutcome is the result of an attempt at a document.
type CogneeOutcome struct {
	CogneeHealth
	CogneeLease
	Version   int           `json:"-"` // that was sent; zero: it was to be forgotten
	Outcome   string        `json:"outcome"`
	DataID    string        `json:"data_id,omitempty"`
	DatasetID string        `json:"dataset_id,omitempty"`
	Changed   bool          `json:"changed"` // with CogneeSent: Cognee's content is another one now
	NextAfter time.Duration `json:"-"`       // with CogneeRetry; sent as next_after_ms
	// Unlisted is with CogneeForgotten, if Cognee does not list the document, whose upload may have been cut off: for how
	// long after its deletion it is looked for. Zero: it is not; sent as unlisted_ms.
	Unlisted       time.Duration `json:"-"`
	ResponseStatus int           `json:"response_status"`
}

// The outcomes of a request about a dataset.
const (
	CognifyAsked   = "asked"
	CognifyRunning = "running"
	CognifyDone    = "done"
	CognifyFailed  = "failed"
)

// CognifyOutcome is the result of a request about a dataset.
type CognifyOutcome struct {
	CogneeHealth
	CognifyHolder
	Outcome   string        `json:"outcome"`
	NextAfter time.Duration `json:"-"` // until the next request; sent as next_after_ms
}

// CogneeSettled is what a record of an attempt made of the outbox.
type CogneeSettled struct {
	Status  string        // of the document or the dataset
	Down    bool          // Cognee is down
	Began   bool          // this attempt began the outage
	Ended   bool          // this attempt ended the outage
	DownFor time.Duration // with Ended
	Probe   time.Duration // with Down: until the next request
}

// CogneeState is the outbox for metrics and people. Documents are counted up to 10001.
type CogneeState struct {
	Enabled   bool // a worker has had COGNEE_URL
	Since     *time.Time
	DownSince *time.Time // nil: Cognee is not known to be down
	LastError string     // with DownSince
	Pending   int        // not sent yet
	Due       int        // of these, those that are due
	Oldest    time.Duration
	Refused   int // by Cognee, for good
	Failed    int // after the last retry
	Datasets  []CogneeDatasetState
	Troubled  []CogneeTroubled // the first of Refused and Failed
}

// CogneeDatasetState is a dataset for people.
type CogneeDatasetState struct {
	DocumentSet string     `json:"document_set"`
	DatasetID   string     `json:"dataset_id"`
	State       string     `json:"state"`   // idle, running, failed
	Changes     int        `json:"changes"` // that are not in Cognee's graph yet
	AskedAt     *time.Time `json:"asked_at"`
	FinishedAt  *time.Time `json:"finished_at"`
	LastError   string     `json:"last_error"`
}

// CogneeTroubled is a document that Cognee does not have.
type CogneeTroubled struct {
	DocumentID     string `json:"document_id"`
	DocumentSet    string `json:"document_set"`
	Version        int    `json:"version"` // zero: it is to be forgotten
	Status         string `json:"status"`
	Attempts       int    `json:"attempts"`
	ResponseStatus int    `json:"response_status"` // zero: no answer
	LastError      string `json:"last_error"`
}

// CogneeRetried counts what RetryCognee made due.
type CogneeRetried struct {
	Documents int `json:"documents"`
	Datasets  int `json:"datasets"`
}

// CogneeIndex is a page of the index.
type CogneeIndex struct {
	Now       time.Time     `json:"now"` // the database's clock, before the page was read
	Documents []CogneeEntry `json:"documents"`
}

// CogneeEntry is a document of the index with what is noted of it.
type CogneeEntry struct {
	DocumentID  string `json:"document_id"`
	DocumentSet string `json:"document_set"`
	Version     int    `json:"version"`
	Status      string `json:"status"` // empty: nothing is noted
	Sent        int    `json:"sent"`
	DataID      string `json:"data_id"`
	DatasetID   string `json:"dataset_id"`
}

// CogneeItem is a document with Cognee's names for it; empty: it has none.
type CogneeItem struct {
	DocumentID string `json:"document_id"`
	DataID     string `json:"data_id,omitempty"`
	DatasetID  string `json:"dataset_id,omitempty"`
}
