// Package store is everything that the worker asks of its database. Each method is one SQL function
// and so one transaction; store/schema holds the SQL, store/postgres and store/supabase are two thin
// callers of it, store/storetest is the one conformance suite that both pass. A Store belongs to one
// tenant: it is opened for a client id, and every row it reads or writes bears that id (I10).
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	// ErrFenced says that the caller's fence is stale or the job is no longer running: somebody else
	// has it, or it is over. Nothing was written (I4).
	ErrFenced = errors.New("store: the job is no longer held by this worker")
	// ErrNotFound says that there is no such row for this tenant.
	ErrNotFound = errors.New("store: not found")
	// ErrConflict says that the id is taken by a job with another payload (I5).
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

// BusyError says that another running job works on the same document: wait, without an attempt.
type BusyError struct {
	JobID      string        // the job that holds the document
	RetryAfter time.Duration // until its lease would end
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("store: job %s is working on this document", e.JobID)
}

// Store is the whole of it. It is safe for concurrent use. An error that is not one of the sentinels
// above is (or wraps) a *taskerr.Error, mostly transient_storage.
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

	// Check returns ErrSchema, ErrForbidden or another error when the store can't be worked with.
	Check(ctx context.Context) error
	// Close gives back connections.
	Close()
}

// Jobs are the transactions of the engine.
type Jobs interface {
	// Submit records a job as pending before its message is sent. A job that exists with the same
	// fingerprint is returned as it is; with another one the answer is ErrConflict.
	Submit(ctx context.Context, s Submission) (SubmitAnswer, error)
	// MarkSent notes that the message of a submitted job is on the queue, so that no sweep sends it again.
	MarkSent(ctx context.Context, jobID string) error
	// Sweep finds messages that were recorded and never marked sent, and jobs that should have been picked up
	// again long ago, the longest waiting first: at most limit of each. It changes nothing.
	Sweep(ctx context.Context, q SweepAges, limit int) (SweepAnswer, error)
	// Resend records another message of a job that Sweep found stalled: send it and call MarkSent, or a sweep
	// will. It returns false, and records nothing, when the job moved on or somebody else was here first.
	Resend(ctx context.Context, r Resend) (bool, error)
	// Begin records the job if it is new and says what to do with its message.
	Begin(ctx context.Context, b Begin) (BeginAnswer, error)
	// ReleaseUnanswered gives back the jobs that the given begins have leased to an attempt that does not exist,
	// because their answer was lost. The attempts are not counted (I9). It returns how many jobs it gave back.
	ReleaseUnanswered(ctx context.Context, begins []UnansweredBegins) (int, error)
	// Heartbeat extends the lease of a running job, appends events and brings back a cancel request.
	// ErrFenced.
	Heartbeat(ctx context.Context, b Heartbeat) (HeartbeatAnswer, error)
	// Complete commits the handler's effect, the result, the last event and the webhook. ErrFenced.
	Complete(ctx context.Context, c Completion) (Settlement, error)
	// Fail ends the job with an error: row, event, dead letter and webhook; staged work is removed. ErrFenced.
	Fail(ctx context.Context, f Failure) (Settlement, error)
	// Retry notes a retryable error and when the next attempt may start. ErrFenced.
	Retry(ctx context.Context, r Retry) (Settlement, error)
	// Release gives the job back as pending; the attempt is not counted (I9). ErrFenced.
	Release(ctx context.Context, r Release) (Settlement, error)
	// Canceled acknowledges a cancel request: nothing of the job is committed after it (I7). ErrFenced.
	Canceled(ctx context.Context, h Holder, events []Event) (Settlement, error)
	// Reject records a message that can't become work: dead letter, webhook, and a failed job row when
	// the message named a free id of this tenant. The same MessageID is recorded once.
	Reject(ctx context.Context, r Rejection) (Settlement, error)
	// RequestCancel cancels a pending job at once, asks a running one to stop, and leaves a canceled row
	// for an unknown id so that its message is dropped when it comes. ErrTerminal.
	RequestCancel(ctx context.Context, jobID, by string) (Job, error)
	// Canceling returns those of the attempts whose jobs somebody asked to cancel. One whose fence is stale is
	// left out: its next write learns that it lost the job.
	Canceling(ctx context.Context, attempts []Holder) ([]Holder, error)
	// DeadLetterSent notes that the copy of a dead letter is on the dead-letter queue.
	DeadLetterSent(ctx context.Context, deadLetterID string) error
}

// Documents are the transactions of ingest: a version is staged beside the active one, and becomes
// active only in Complete, by Effect "activate_document".
type Documents interface {
	// StageDocument opens (or, for a later attempt of the same job, opens again) a staged version of a
	// document. *BusyError when another running job has one open. ErrFenced.
	StageDocument(ctx context.Context, s Staging) (StagedVersion, error)
	// MadeOf tells what blobs go with a document that is to be deleted.
	MadeOf(ctx context.Context, documentID string) (DocumentBlobs, error)
	// VersionKeys returns the keys of the chunks of a document's active version, by position.
	VersionKeys(ctx context.Context, documentID string, version int) ([]string, error)
	// KnownChunks returns those of the keys (at most 1000) that this tenant has an embedding for.
	KnownChunks(ctx context.Context, keys []string) (map[string]bool, error)
	// StageChunks writes chunks of a staged version. A chunk without an embedding takes the one that the
	// tenant has under its key; the keys for which there is none are returned, and their chunks not
	// written. Writing a position again replaces it, unless it would be the same. ErrFenced.
	StageChunks(ctx context.Context, s ChunkBatch) (missing []string, err error)
}

// Pages keep what OCR read of single pages, so that another attempt, job or worker reads none of them again.
type Pages interface {
	// PageResults returns what is kept of at most count (64) pages from first on, in order.
	PageResults(ctx context.Context, s PageSource, first, count int) ([]PageResult, error)
	// KeepPageResults keeps readings; one of the same page is replaced.
	KeepPageResults(ctx context.Context, s PageSource, pages []PageResult) error
	// ExpirePageResults removes readings older than that, the oldest first and at most limit (10,000), and
	// tells how many these were.
	ExpirePageResults(ctx context.Context, olderThan time.Duration, limit int) (int, error)
}

// Summaries keep a model's answers to the calls of a summary, so that another attempt, or the next version of a
// document, asks only what was not asked before. The summary itself is written in Complete, by Effect "save_summary".
type Summaries interface {
	// Partials returns what is kept under the keys, in their order; keys under which nothing is are left out.
	Partials(ctx context.Context, q PartialQuery) ([]Partial, error)
	// KeepPartials keeps answers that a job has paid for; one under the same key is replaced. No fence is asked
	// for: the key says what an answer is.
	KeepPartials(ctx context.Context, jobID string, partials []Partial) error
	// ExpirePartials removes answers older than that, the oldest first and at most limit (10,000), and tells how
	// many these were.
	ExpirePartials(ctx context.Context, olderThan time.Duration, limit int) (int, error)
}

// Derivations are what is asked about documents that are made of documents. They are recorded in Complete, by
// Effect "record_derived_content".
type Derivations interface {
	// Derived tells what was made of a document before.
	Derived(ctx context.Context, q DerivedQuery) (DerivedAnswer, error)
}

// Passages are what is read of documents to answer a question: of active versions, of one document set or (empty) of
// all that the tenant has. A name or id of another set is as one that there is not.
type Passages interface {
	// Documents lists documents by filename and set.
	Documents(ctx context.Context, q DocumentQuery) ([]DocumentEntry, error)
	// Outlines returns the outline of the document with an id, or of those with a filename: one in each set.
	Outlines(ctx context.Context, documentSet, document string) ([]DocumentOutline, error)
	// Passages returns chunks by their ids, by document and place; what there is not is left out.
	Passages(ctx context.Context, q PassageQuery) ([]Passage, error)
	// DocumentPassages returns the chunks of a document from a place on, in order.
	DocumentPassages(ctx context.Context, q DocumentPassageQuery) ([]Passage, error)
}

// Deliveries are the transactions of the webhook loop over the outbox.
type Deliveries interface {
	// ClaimDeliveries leases up to Max due deliveries to one worker.
	ClaimDeliveries(ctx context.Context, c Claim) (ClaimedDeliveries, error)
	// ExtendDeliveries renews the leases of claims, and returns the ids of those that are still held: the others ran
	// out, and somebody else has them. A lease of zero gives them back.
	ExtendDeliveries(ctx context.Context, claims []DeliveryClaim, lease time.Duration) (kept []string, err error)
	// SettleDelivery records the outcome of one claimed attempt, and says how its receiver is. ErrFenced when the
	// claim ran out and somebody else has it.
	SettleDelivery(ctx context.Context, o DeliveryOutcome) (Receiver, error)
}

// Backlog is what waits in the store, for metrics.
type Backlog interface {
	// Outbox tells how much is still to be delivered.
	Outbox(ctx context.Context) (Outbox, error)
}

// Upkeep are the transactions that remove what nobody needs any more.
type Upkeep interface {
	// Collect removes versions that were replaced long ago, what abandoned jobs have staged, and documents without
	// a version. What somebody else has locked is left for the next time.
	Collect(ctx context.Context, c Collection) (CollectAnswer, error)
}

// Reader answers questions of people and commands. None of it is on a task's way.
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
