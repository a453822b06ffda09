// Package store is the worker's interface to its database. Each method is one SQL function, and so one transaction.
// store/schema has the SQL, store/postgres and store/supabase call it, and both pass the suite in store/storetest. A
// Store belongs to one tenant: it is opened for a client id, and every row that it reads or writes has that id (I10).
package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

var (
	// ErrFenced means that the caller's fence is stale or the job is not running: another worker has it, or it has
	// ended. Nothing was written (I4).
	ErrFenced = errors.New("the job is no longer held by this worker")
	// ErrNotFound means that this tenant has no such row.
	ErrNotFound = errors.New("not found")
	// ErrConflict means that a job with another payload has the id (I5).
	ErrConflict = errors.New("the id is taken by a job with another payload")
	// ErrRunWaits means that a message for another run of the job is recorded and was not sent yet, because it is to be
	// sent later or because its queue does not take it.
	ErrRunWaits = errors.New("another run of the job waits already, for its time or for the queue")
	// ErrForbidden means that the key has no right to this tenant's rows (I10).
	ErrForbidden = errors.New("this key may not touch this tenant's rows")
	// ErrLogin means that the database refuses the login: a wrong password, no such role. It is an ErrForbidden.
	ErrLogin error = loginError{}
	// ErrSchema means that the schema is missing, or older than this program needs; run migrate.
	ErrSchema = errors.New("the database's schema is missing or too old; run async-worker migrate")
	// ErrDimensions means that the schema's vectors have another width than the worker's. It is an ErrSchema.
	ErrDimensions error = otherSchema("the database's vectors have another width than the worker's")
	// ErrUnexposed means that the API does not expose the schema of DB_SCHEMA. It is an ErrSchema.
	ErrUnexposed error = otherSchema("the API does not expose the schema of DB_SCHEMA")
	// ErrTerminal means that the job has succeeded, failed or been canceled already (I3).
	ErrTerminal = errors.New("the job is already over")
	// ErrNotPublisher means that another worker publishes this tenant's events. Nothing was written.
	ErrNotPublisher = errors.New("another worker publishes this tenant's events")
	// ErrCutOff means that the connection could not be made, or ended before the answer. The cause is the database's
	// server, the network, or a call that brings the server down. A *taskerr.Error wraps it.
	ErrCutOff = errors.New("the connection to the database was cut off")
	// ErrNotServing means that the database takes no connections (it has none left, or starts up) or no writes (it is
	// read-only), which no task can cause. A *taskerr.Error wraps it.
	ErrNotServing = errors.New("the database takes no connections or no writes")
	// ErrValue means that the call has a value which its type in the database can't hold or read, such as a number of
	// too many digits. A *taskerr.Error wraps it.
	ErrValue = errors.New("the database can't hold a value")
)

// BusyError means that another job holds the document, or is ahead of this one; without a JobID that many messages wait on
// the queue to which the job sends. Waiting costs no attempt.
type BusyError struct {
	JobID      string        // the job that holds the document, or is the first in line
	RetryAfter time.Duration // what the store advises
}

func (e *BusyError) Error() string {
	if e.JobID == "" {
		return "many messages wait on the queue"
	}
	return fmt.Sprintf("job %s is working on this document", e.JobID)
}

// Store is the whole interface. It is safe for concurrent use. An error that is none of the above is, or wraps, a
// *taskerr.Error, mostly of the class transient_storage.
type Store interface {
	Jobs
	Submissions
	Documents
	Children
	Derivations
	Decks
	Pages
	Summaries
	Answers
	Deliveries
	Backlog
	Reader
	Feeds
	Publishing
	Schedules
	Cognee
	Results
	Overviews
	Passages
	Replays
	Resends
	Upkeep
	Expiry
	Examiner

	// Check returns ErrSchema, ErrForbidden or another error if the store can't be used.
	Check(ctx context.Context) error
	// Close closes the connections.
	Close()
}

// Jobs are the transactions of the engine.
type Jobs interface {
	// Submit records a pending job before its message is sent. A job that exists already is returned unchanged if
	// its fingerprint is the same; otherwise the error is ErrConflict. One that was begun gets the message of a task with
	// hints.force that is to be sent later; ErrRunWaits if it has another one, or was not begun yet.
	Submit(ctx context.Context, s Submission) (SubmitAnswer, error)
	// MarkSent notes that the message of a submitted job is on the queue, so that no sweep sends it again. Another message
	// of the job that was recorded meanwhile stays unsent, and so does one that is to be sent later.
	MarkSent(ctx context.Context, jobID, message string) error
	// Sweep finds messages that were never marked sent, and jobs that should have been begun long ago, those that
	// wait longest first, at most limit of each. It changes nothing.
	Sweep(ctx context.Context, q SweepAges, limit int) (SweepAnswer, error)
	// Resend records another message of a stalled job that Sweep found. The caller sends it and calls MarkSent,
	// else a sweep does. It returns false, and records nothing, if the job moved on or another sweep was first. While the
	// row has the message of a later run, that stays, and the caller alone sends.
	Resend(ctx context.Context, r Resend) (bool, error)
	// Begin records the job if it is new, and decides what to do with its message.
	Begin(ctx context.Context, b Begin) (BeginAnswer, error)
	// ReleaseUnanswered gives back the jobs that the given begins have leased to an attempt that does not exist,
	// because their answer was lost. The attempts are not counted (I9). It returns how many jobs it gave back.
	ReleaseUnanswered(ctx context.Context, begins []UnansweredBegins) (int, error)
	// Heartbeat extends the lease of a running job and appends events. It returns whether a cancel was requested.
	// ErrFenced.
	Heartbeat(ctx context.Context, b Heartbeat) (HeartbeatAnswer, error)
	// Complete commits the handler's effect, the result, the last event and the webhook. ErrFenced.
	Complete(ctx context.Context, c Completion) (Settlement, error)
	// Fail ends the job with an error: row, event, dead letter and webhook; staged work is removed. ErrFenced.
	Fail(ctx context.Context, f Failure) (Settlement, error)
	// Retry records a retryable error and when the next attempt may start. ErrFenced.
	Retry(ctx context.Context, r Retry) (Settlement, error)
	// Release gives the job back as pending; the attempt is not counted (I9). ErrFenced.
	Release(ctx context.Context, r Release) (Settlement, error)
	// Canceled acknowledges a cancel request: nothing of the job is committed after it (I7). ErrFenced.
	Canceled(ctx context.Context, h Holder, events []Event) (Settlement, error)
	// Reject records a message that can't become a task: a dead letter, a webhook and, if the message has an unused id
	// of this tenant, a failed job. Each MessageID is recorded once.
	Reject(ctx context.Context, r Rejection) (Settlement, error)
	// RequestCancel cancels a pending job at once and requests the cancel of a running one. For an unknown id it
	// records a canceled job, so that its message is dropped when it comes. Of a job that has ended it gives up the next
	// run, if the message for it waits for its time, or for its queue; else ErrTerminal.
	RequestCancel(ctx context.Context, jobID, by string) (Job, error)
	// Canceling returns those of the attempts whose cancel was requested. It omits one with a stale fence, whose next
	// write fails with ErrFenced.
	Canceling(ctx context.Context, attempts []Holder) ([]Holder, error)
	// DeadLetterSent records that the copy of a dead letter is on the dead-letter queue.
	DeadLetterSent(ctx context.Context, deadLetterID string) error
}

// Documents are the transactions of ingest: a version is staged beside the active one, and becomes
// active only in Complete, by Effect "activate_document".
type Documents interface {
	// StageDocument opens a staged version of a document, or the one of an earlier attempt of this job. *BusyError if
	// another running job has one open. ErrFenced. If a job of a later message has ended, it opens none, and says so.
	StageDocument(ctx context.Context, s Staging) (StagedVersion, error)
	// MadeOf returns the blobs that belong to a document that is to be deleted.
	MadeOf(ctx context.Context, documentID string) (DocumentBlobs, error)
	// VersionKeys returns the keys of the chunks of a document's active version, by position.
	VersionKeys(ctx context.Context, documentID string, version int) ([]string, error)
	// VersionContexts returns the contexts of the chunks of a document's active version, by their keys; those without one
	// are missing.
	VersionContexts(ctx context.Context, documentID string, version int) (map[string]ChunkContext, error)
	// KnownChunks returns the keys, of at most 1000, for which this tenant has an embedding.
	KnownChunks(ctx context.Context, keys []string) (map[string]bool, error)
	// StageChunks writes chunks of a staged version. A chunk without an embedding gets the tenant's embedding of its
	// key and context; keys without one are returned, and their chunks are not written. Writing a position again replaces its
	// chunk. ErrFenced.
	StageChunks(ctx context.Context, s ChunkBatch) (missing []string, err error)
	// StageTerms counts the words of chunks of a staged version, for searches after it is active. Without it the commit does,
	// which takes too long for more than some thousand chunks. Repeated, it changes nothing. ErrFenced.
	StageTerms(ctx context.Context, p TermsPart) error
}

// Pages keep OCR results of single pages, so that another attempt, job or worker does not read them again.
type Pages interface {
	// PageResults returns the kept results of at most count (64) pages from first on, in order.
	PageResults(ctx context.Context, s PageSource, first, count int) ([]PageResult, error)
	// KeepPageResults keeps results and replaces those of the same pages.
	KeepPageResults(ctx context.Context, s PageSource, pages []PageResult) error
	// ExpirePageResults removes older results, the oldest first and at most limit (10,000), and as many records of which job used
	// results that are gone. It returns how many, the greater number: call it again if that is limit.
	ExpirePageResults(ctx context.Context, olderThan time.Duration, limit int) (int, error)
}

// Partials keep a model's answers to the calls of a task, so that another attempt, or the task of the document's next
// version, repeats no call.
type Partials interface {
	// Partials returns the kept answers of the keys, in their order. It omits keys without one.
	Partials(ctx context.Context, q PartialQuery) ([]Partial, error)
	// KeepPartials keeps answers that a job has paid for, and replaces those with the same keys. It needs no fence: the
	// key determines the answer.
	KeepPartials(ctx context.Context, jobID string, partials []Partial) error
}

// Summaries are what summaries need. Complete writes the summary itself, by the effect "save_summary".
type Summaries interface {
	Partials
	// ExpirePartials removes older answers, the oldest first and at most limit (10,000). It returns how many.
	ExpirePartials(ctx context.Context, olderThan time.Duration, limit int) (int, error)
}

// Derivations are queries about documents derived from documents. Complete records these, by the effect
// "record_derived_content".
type Derivations interface {
	// Derived returns what was derived from a document before.
	Derived(ctx context.Context, q DerivedQuery) (DerivedAnswer, error)
}

// Passages read documents to answer a question: active versions, of one document set or (empty) of all of the tenant's.
// A name or id of another set is not found.
type Passages interface {
	// Documents lists documents by filename and set.
	Documents(ctx context.Context, q DocumentQuery) ([]DocumentEntry, error)
	// Outlines returns the outline of the document with an id, or of those with a filename: one in each set.
	Outlines(ctx context.Context, documentSet, document string) ([]DocumentOutline, error)
	// Passages returns chunks by their ids, sorted by document and position. It omits ids that do not exist.
	Passages(ctx context.Context, q PassageQuery) ([]Passage, error)
	// DocumentPassages returns the chunks of a document from a position on, in order.
	DocumentPassages(ctx context.Context, q DocumentPassageQuery) ([]Passage, error)
}

// Deliveries are the transactions of the webhook loop over the outbox.
type Deliveries interface {
	// ClaimDeliveries leases up to Max due deliveries to one worker.
	ClaimDeliveries(ctx context.Context, c Claim) (ClaimedDeliveries, error)
	// ExtendDeliveries renews the leases of claims. It returns the ids of those that are still held; the other leases
	// ran out, and another worker has the deliveries. A lease of zero gives them back.
	ExtendDeliveries(ctx context.Context, claims []DeliveryClaim, lease time.Duration) (kept []string, err error)
	// SettleDelivery records the outcome of one claimed attempt, and returns the state of its receiver. ErrFenced if
	// the claim ran out and another worker has it.
	SettleDelivery(ctx context.Context, o DeliveryOutcome) (Receiver, error)
}

// Backlog is what the metrics show of the store.
type Backlog interface {
	// Outbox counts the deliveries that are not done.
	Outbox(ctx context.Context) (Outbox, error)
}

// Upkeep are the transactions that remove what is no longer needed.
type Upkeep interface {
	// Collect removes versions that were replaced long ago, staged versions of abandoned jobs, and documents without a
	// version. It skips locked rows.
	Collect(ctx context.Context, c Collection) (CollectAnswer, error)
	// RemoveChunks removes at most limit (1000) chunks that a commit left because they were many: those of versions that
	// were replaced or given up, and of deleted documents. No reader sees them. Collect does so, too.
	RemoveChunks(ctx context.Context, limit int) (RemovedChunks, error)
}

// Reader answers queries of commands. No task calls it.
type Reader interface {
	Job(ctx context.Context, id string) (Job, error)
	Jobs(ctx context.Context, f JobFilter) ([]Job, error)
	// Events returns a job's events with seq > after, in order.
	Events(ctx context.Context, jobID string, after int64, limit int) ([]JobEvent, error)
	// DeadLetters returns a page of a list. It has f.Limit dead letters, or all that are left, or the last one has More.
	DeadLetters(ctx context.Context, f DeadLetterFilter) ([]DeadLetter, error)
	DeadLetter(ctx context.Context, id string) (DeadLetter, error)
	JobDeliveries(ctx context.Context, jobID string) ([]DeliveryStatus, error)
	// Search combines full text and vectors by reciprocal rank fusion.
	Search(ctx context.Context, q Query) ([]Hit, error)
	// Rarity says how rare the words of a question are, which is without what it excludes (PositiveTerms).
	Rarity(ctx context.Context, question string) (Rarity, error)
}

// Feeds reads events as they come.
type Feeds interface {
	// Feed reads on in the stream of all events of the tenant, and in single jobs. The stream has the events of
	// transactions that are older than each one still open, so that none is missed, however late it commits.
	Feed(ctx context.Context, q FeedQuery) (FeedPage, error)
	// Wake tells other processes' listeners that jobs have new events; no ids: any job.
	Wake(ctx context.Context, jobIDs []string) error
	// WakeWorkers makes idle workers of the tenant look for messages at once, as far as they can be told.
	WakeWorkers(ctx context.Context) error
}

// NextUnexposed is what to do about ErrUnexposed.
const NextUnexposed = "set DB_SCHEMA to one that it exposes; or let it expose this one (Supabase: Settings, API, exposed " +
	"schemas; PostgREST: db-schemas)"

// otherSchema is an ErrSchema for another reason than the schema's version.
type otherSchema string

func (e otherSchema) Error() string        { return string(e) }
func (e otherSchema) Is(target error) bool { return target == ErrSchema || target == error(e) }
