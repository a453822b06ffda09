// Package store defines what the worker asks of its database. Each method is one SQL function, and so one
// transaction. Package store/schema holds the SQL, store/postgres and store/supabase call it, and store/storetest is
// the conformance suite that both pass. A Store belongs to one tenant: it is opened for a client id, and every row
// that it reads or writes has that id (I10).
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	// ErrFenced says that the caller's fence is stale or the job is not running: another worker has it, or it has
	// ended. Nothing was written (I4).
	ErrFenced = errors.New("store: the job is no longer held by this worker")
	// ErrNotFound says that this tenant has no such row.
	ErrNotFound = errors.New("store: not found")
	// ErrConflict says that a job with another payload has the id (I5).
	ErrConflict = errors.New("store: the id is taken by a job with another payload")
	// ErrForbidden says that the key may not touch this tenant's rows (I10).
	ErrForbidden = errors.New("store: this key may not touch this tenant's rows")
	// ErrLogin says that the database refuses the login itself: a wrong password, no such role. It is an ErrForbidden.
	ErrLogin error = loginError{}
	// ErrSchema says that the database's schema is absent or older than this program; run migrate.
	ErrSchema = errors.New("store: the database's schema is missing or too old; run async-worker migrate")
	// ErrUnexposed says that the API doesn't offer the schema of DB_SCHEMA. It is an ErrSchema.
	ErrUnexposed error = unexposed{}
	// ErrTerminal says that the job is already succeeded, failed or canceled (I3).
	ErrTerminal = errors.New("store: the job is already over")
)

// BusyError says that another running job works on the same document. Waiting for it costs no attempt.
type BusyError struct {
	JobID      string        // the job that holds the document
	RetryAfter time.Duration // until its lease would end
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("store: job %s is working on this document", e.JobID)
}

// Store is the database of one tenant. It is safe for concurrent use. An error that is not one of the sentinels above
// is (or wraps) a *taskerr.Error, mostly transient_storage.
type Store interface {
	Jobs
	Documents
	Derivations
	Pages
	Summaries
	Deliveries
	Backlog
	Reader
	Passages
	Replays
	Resends
	Upkeep
	Examiner

	// Check returns ErrSchema, ErrForbidden or another error when the store is not usable.
	Check(ctx context.Context) error
	// Close closes the connections.
	Close()
}

// Jobs are the transactions of the engine.
type Jobs interface {
	// Submit records a job as pending before its message is sent. If the job exists with the same fingerprint, Submit
	// changes nothing and returns its state. ErrConflict if it exists with another one.
	Submit(ctx context.Context, s Submission) (SubmitAnswer, error)
	// MarkSent marks the message of a submitted job as sent, so that no sweep sends it again.
	MarkSent(ctx context.Context, jobID string) error
	// Sweep finds messages that were recorded and never marked sent, and jobs that should have been picked up long
	// ago, the longest waiting first: at most limit of each. It changes nothing.
	Sweep(ctx context.Context, q SweepAges, limit int) (SweepAnswer, error)
	// Resend records another message of a job that Sweep found stalled: send it and call MarkSent, or a sweep will. It
	// returns false, and records nothing, when the job has moved on or another sweep has recorded one.
	Resend(ctx context.Context, r Resend) (bool, error)
	// Begin records the job if it is new and decides what to do with its message.
	Begin(ctx context.Context, b Begin) (BeginAnswer, error)
	// ReleaseUnanswered gives back the jobs that the given begins have leased to an attempt that does not exist,
	// because their answer was lost. The attempts are not counted (I9). It returns the number of jobs.
	ReleaseUnanswered(ctx context.Context, begins []UnansweredBegins) (int, error)
	// Heartbeat extends the lease of a running job, appends events and returns whether a cancel was requested.
	// ErrFenced.
	Heartbeat(ctx context.Context, b Heartbeat) (HeartbeatAnswer, error)
	// Complete commits the handler's effect, the result, the last event and the webhook. ErrFenced.
	Complete(ctx context.Context, c Completion) (Settlement, error)
	// Fail ends the job with an error: row, event, dead letter and webhook. It removes staged work. ErrFenced.
	Fail(ctx context.Context, f Failure) (Settlement, error)
	// Retry records a retryable error and when the next attempt may start. ErrFenced.
	Retry(ctx context.Context, r Retry) (Settlement, error)
	// Release gives the job back as pending; the attempt is not counted (I9). ErrFenced.
	Release(ctx context.Context, r Release) (Settlement, error)
	// Canceled ends the job after a cancel request: nothing of the job is committed after it (I7). ErrFenced.
	Canceled(ctx context.Context, h Holder, events []Event) (Settlement, error)
	// Reject records a message that is not a valid task: dead letter, webhook, and a failed job row when the message
	// names a free id of this tenant. It records a MessageID once.
	Reject(ctx context.Context, r Rejection) (Settlement, error)
	// RequestCancel cancels a pending job at once and asks a running one to stop. For an unknown id it inserts a
	// canceled row, so that the message is dropped when it comes. ErrTerminal.
	RequestCancel(ctx context.Context, jobID, by string) (Job, error)
	// Canceling returns the attempts whose jobs have a cancel request. It omits one whose fence is stale: its next
	// write returns ErrFenced.
	Canceling(ctx context.Context, attempts []Holder) ([]Holder, error)
	// DeadLetterSent marks the copy of a dead letter as sent to the dead-letter queue.
	DeadLetterSent(ctx context.Context, deadLetterID string) error
}

// Documents are the transactions of ingest. A version is staged next to the active one, and becomes active only in
// Complete, by Effect "activate_document".
type Documents interface {
	// StageDocument opens a staged version of a document. A later attempt of the same job opens the same one again.
	// *BusyError when another running job has one open. ErrFenced.
	StageDocument(ctx context.Context, s Staging) (StagedVersion, error)
	// MadeOf returns the blobs that were made of a document and that no other document shares, for its deletion.
	MadeOf(ctx context.Context, documentID string) (DocumentBlobs, error)
	// VersionKeys returns the keys of the chunks of a document's active version, by position.
	VersionKeys(ctx context.Context, documentID string, version int) ([]string, error)
	// KnownChunks returns those of the keys (at most 1000) that this tenant has an embedding for.
	KnownChunks(ctx context.Context, keys []string) (map[string]bool, error)
	// StageChunks writes chunks of a staged version. A chunk without an embedding takes the one that the tenant has
	// under its key. If there is none, the chunk is not written and its key is returned. Writing a position again
	// replaces it, unless it is the same. ErrFenced.
	StageChunks(ctx context.Context, s ChunkBatch) (missing []string, err error)
}

// Pages store the OCR results of single pages, so that no attempt, job or worker reads a page twice.
type Pages interface {
	// PageResults returns the stored results of at most count (64) pages, starting at page first, in order.
	PageResults(ctx context.Context, s PageSource, first, count int) ([]PageResult, error)
	// KeepPageResults stores results. It replaces one of the same page.
	KeepPageResults(ctx context.Context, s PageSource, pages []PageResult) error
	// ExpirePageResults removes results older than olderThan, the oldest first and at most limit (10,000). It returns
	// their number.
	ExpirePageResults(ctx context.Context, olderThan time.Duration, limit int) (int, error)
}

// Summaries store a model's answers to the calls of a summary, so that another attempt, or the next version of a
// document, repeats no call. The summary itself is written in Complete, by Effect "save_summary".
type Summaries interface {
	// Partials returns the answers stored under the keys, in the order of the keys. It omits keys without an answer.
	Partials(ctx context.Context, q PartialQuery) ([]Partial, error)
	// KeepPartials stores answers that a job has paid for. It replaces one under the same key. It needs no fence: the
	// key determines the answer.
	KeepPartials(ctx context.Context, jobID string, partials []Partial) error
	// ExpirePartials removes answers older than olderThan, the oldest first and at most limit (10,000). It returns
	// their number.
	ExpirePartials(ctx context.Context, olderThan time.Duration, limit int) (int, error)
}

// Derivations look up documents that were derived from documents. They are recorded in Complete, by Effect
// "record_derived_content".
type Derivations interface {
	// Derived returns what was derived from a document before.
	Derived(ctx context.Context, q DerivedQuery) (DerivedAnswer, error)
}

// Passages read documents to answer a question: active versions of one document set, or of all sets of the tenant if
// it is empty. A name or id of another set counts as unknown.
type Passages interface {
	// Documents lists documents by filename and set.
	Documents(ctx context.Context, q DocumentQuery) ([]DocumentEntry, error)
	// Outlines returns the outline of the document with an id, or of the documents with a filename: one in each set.
	Outlines(ctx context.Context, documentSet, document string) ([]DocumentOutline, error)
	// Passages returns chunks by their ids, ordered by document and position. It omits unknown ids.
	Passages(ctx context.Context, q PassageQuery) ([]Passage, error)
	// DocumentPassages returns the chunks of a document from a position on, in order.
	DocumentPassages(ctx context.Context, q DocumentPassageQuery) ([]Passage, error)
}

// Deliveries are the transactions of the webhook loop over the outbox.
type Deliveries interface {
	// ClaimDeliveries leases up to Max due deliveries to one worker.
	ClaimDeliveries(ctx context.Context, c Claim) (ClaimedDeliveries, error)
	// ExtendDeliveries renews the leases of claims, and returns the ids of those that are still held. The others have
	// expired, and another worker has claimed them. A lease of zero gives claims back.
	ExtendDeliveries(ctx context.Context, claims []DeliveryClaim, lease time.Duration) (kept []string, err error)
	// SettleDelivery records the outcome of one claimed attempt, and returns the state of its receiver. ErrFenced when
	// the claim has expired and another worker has claimed the delivery.
	SettleDelivery(ctx context.Context, o DeliveryOutcome) (Receiver, error)
}

// Backlog measures what waits in the store, for metrics.
type Backlog interface {
	// Outbox counts the deliveries that are pending.
	Outbox(ctx context.Context) (Outbox, error)
}

// Upkeep are the transactions that remove obsolete rows.
type Upkeep interface {
	// Collect removes versions that were replaced long ago, versions that abandoned jobs have staged, and documents
	// without a version. It skips rows that are locked.
	Collect(ctx context.Context, c Collection) (CollectAnswer, error)
}

// Reader reads rows for people and commands. No task needs it.
type Reader interface {
	Job(ctx context.Context, id string) (Job, error)
	Jobs(ctx context.Context, f JobFilter) ([]Job, error)
	// Events returns a job's events with seq > after, in order.
	Events(ctx context.Context, jobID string, after int64, limit int) ([]JobEvent, error)
	DeadLetters(ctx context.Context, f DeadLetterFilter) ([]DeadLetter, error)
	DeadLetter(ctx context.Context, id string) (DeadLetter, error)
	JobDeliveries(ctx context.Context, jobID string) ([]DeliveryStatus, error)
	// Search is hybrid: full text and vector, joined by reciprocal rank fusion.
	Search(ctx context.Context, q Query) ([]Hit, error)
}

type unexposed struct{}

func (unexposed) Error() string        { return "store: the API does not expose the schema of DB_SCHEMA" }
func (unexposed) Is(target error) bool { return target == ErrSchema }
