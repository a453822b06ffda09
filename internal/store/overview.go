package store

import (
	"context"
	"encoding/json"
	"time"
)

// Overviews answers the dashboard's questions. Each answer is bounded: where it reached its bound, More says so.
type Overviews interface {
	// Outcomes returns how jobs have ended in each window, in their order, looking at the newest most ends of each.
	Outcomes(ctx context.Context, windows []Window, most int) ([]Outcomes, error)
	// Overview returns what waits, what failed within a time, and what the work cost. It looks at the newest most of each.
	Overview(ctx context.Context, within time.Duration, most int) (Overview, error)
	// FindJobs lists jobs, newest first. It stops when it has looked at q.Most of them, or found q.Bytes.
	FindJobs(ctx context.Context, q JobQuery) (FoundJobs, error)
	// JobCounts counts the jobs of each status, most of each.
	JobCounts(ctx context.Context, most int) ([]StatusCount, error)
	// JobContext returns what surrounds a job. ErrNotFound.
	JobContext(ctx context.Context, id string) (JobContext, error)
	// LetterGroups groups the newest most dead letters that nobody has replayed.
	LetterGroups(ctx context.Context, most int) (LetterGroups, error)
	// DocumentSets returns the sets of the first most documents.
	DocumentSets(ctx context.Context, most int) ([]DocumentSet, error)
	// DocumentVersions returns the newest versions of a document.
	DocumentVersions(ctx context.Context, id string) ([]DocumentVersion, error)
}

// Window is a time until now, in parts of equal length.
type Window struct {
	Within  time.Duration `json:"-"` // sent as within_ms
	Buckets int           `json:"buckets"`
}

// Outcomes is how jobs have ended in a window.
type Outcomes struct {
	Begin     time.Time `json:"begin"`
	End       time.Time `json:"end"`
	Jobs      int       `json:"jobs"` // that were looked at
	More      bool      `json:"more"` // there are more, which are older than Oldest
	Oldest    time.Time `json:"oldest"`
	Succeeded int       `json:"succeeded"`
	Failed    int       `json:"failed"`
	Canceled  int       `json:"canceled"`
	P50       *int64    `json:"p50_ms"` // of those that were not canceled, from the first start to the end; nil: there is none
	P95       *int64    `json:"p95_ms"`
	Buckets   [][4]int  `json:"buckets"` // number from 0, succeeded, failed, canceled; those without a job are left out
}

// Overview is what waits, what failed and what the work cost.
type Overview struct {
	Waiting  []PendingJobs  `json:"waiting"` // high, normal, low
	Failures []FailureCause `json:"failures"`
	Usage    Usage          `json:"usage"`
}

// PendingJobs are the pending jobs of a priority.
type PendingJobs struct {
	Priority string     `json:"priority"`
	Jobs     int        `json:"jobs"`
	More     bool       `json:"more"`
	Later    int        `json:"later"`  // of them, those whose time has not come
	Oldest   *time.Time `json:"oldest"` // since when the oldest other one waits; nil: there is none
}

// FailureCause is a cause of failures.
type FailureCause struct {
	Type    string    `json:"type"`
	Class   string    `json:"error_class"`
	Code    string    `json:"error_code"`
	Jobs    int       `json:"jobs"`
	LastAt  time.Time `json:"last_at"`
	LastID  string    `json:"last_job_id"`
	Message string    `json:"error_message"` // of the last
}

// Usage is what succeeded jobs have used.
type Usage struct {
	Jobs             int   `json:"jobs"`
	More             bool  `json:"more"`
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	ChunksEmbedded   int64 `json:"chunks_embedded"`
	ChunksReused     int64 `json:"chunks_reused"`
	TokensEmbedded   int64 `json:"tokens_embedded"` // of the chunks
	TokensReused     int64 `json:"tokens_reused"`
}

// JobQuery narrows a listing of jobs. Zero fields don't narrow.
type JobQuery struct {
	Status      string     `json:"status,omitempty"`
	Type        string     `json:"type,omitempty"`
	Class       string     `json:"error_class,omitempty"`
	Code        string     `json:"error_code,omitempty"`
	Priority    string     `json:"priority,omitempty"`
	DocumentSet string     `json:"document_set,omitempty"`
	RequestedBy string     `json:"requested_by,omitempty"`
	Parent      string     `json:"parent,omitempty"`  // the job that submitted them, or that they replay
	Replays     bool       `json:"replays,omitempty"` // those alone that replay another job
	Text        string     `json:"text,omitempty"`    // a part of the id, the filename or the error, whatever its case
	Since       time.Time  `json:"since,omitzero"`    // made at or after
	Before      time.Time  `json:"before,omitzero"`   // made before
	After       *JobCursor `json:"after,omitempty"`   // for the next page
	Limit       int        `json:"limit"`             // 1-1000
	Most        int        `json:"most"`              // 1-100000: how many are looked at
	// Bytes is the size from which on no job is added to those that were found, as JSON; zero: 2 MiB, which is the most.
	Bytes int `json:"bytes,omitempty"`
}

// FoundJobs is a page of jobs.
type FoundJobs struct {
	Jobs   []Job      `json:"jobs"`
	Looked int        `json:"looked"` // how many were looked at
	Last   *JobCursor `json:"last"`   // the last one that was looked at; nil: there is none after it
}

// StatusCount is how many jobs have a status.
type StatusCount struct {
	Status string `json:"status"`
	Jobs   int    `json:"jobs"`
	More   bool   `json:"more"`
}

// JobContext is what surrounds a job.
type JobContext struct {
	Message string `json:"message"` // empty: it came off a queue, and is not recorded
	// Received is the message as it came off a queue; empty: none has come, or it came before this was recorded.
	Received        string     `json:"received"`
	Queue           string     `json:"queue"`
	SentAt          *time.Time `json:"sent_at"`
	TraceParent     string     `json:"traceparent"`
	LeaseExpiresAt  *time.Time `json:"lease_expires_at"`
	NotBefore       *time.Time `json:"not_before"` // a retry waits until then
	Series          int        `json:"series"`
	SeriesStartedAt *time.Time `json:"series_started_at"`
	CancelBy        string     `json:"cancel_requested_by"`
	Events          int64      `json:"events"`   // how many it had so far; old ones may be removed
	Children        []Job      `json:"children"` // that replay it or that it submitted, the newest first, at most 20
}

// LetterGroups are the dead letters that nobody has replayed.
type LetterGroups struct {
	Letters int           `json:"letters"`
	More    bool          `json:"more"`
	Groups  []LetterGroup `json:"groups"`
}

// LetterGroup is dead letters with the same reason, class and type.
type LetterGroup struct {
	Reason   string    `json:"reason"`
	Class    string    `json:"error_class"`
	TaskType string    `json:"task_type"`
	Letters  int       `json:"letters"`
	Oldest   time.Time `json:"oldest"`
	Newest   time.Time `json:"newest"`
}

// DocumentSet is a set of documents.
type DocumentSet struct {
	Name      string `json:"document_set"`
	Documents int    `json:"documents"`
}

// DocumentVersion is a version of a document, and what the job that made it did.
type DocumentVersion struct {
	Version        int             `json:"version"`
	Status         string          `json:"status"` // staged, active or superseded
	JobID          string          `json:"job_id"`
	Pages          int             `json:"pages"`
	Chunks         int             `json:"chunks"`
	Characters     int64           `json:"characters"`
	Extractor      string          `json:"extractor"`
	CreatedAt      time.Time       `json:"created_at"`
	ActivatedAt    *time.Time      `json:"activated_at"`
	SupersededAt   *time.Time      `json:"superseded_at"`
	ChunksEmbedded int64           `json:"chunks_embedded"`
	ChunksReused   int64           `json:"chunks_reused"`
	Warnings       json.RawMessage `json:"warnings"` // an array, or null
	Changes        *VersionChanges `json:"changes"`  // against the version before; nil: there was none, or it is not known
	// Reread means that its text was read or cut in another way than that of the version before. Its chunks have other
	// keys then, also where the text is the same.
	Reread  bool          `json:"reread"`
	PageLog []PageReading `json:"page_log"` // of the active version alone; nil: the format has no pages
}

// VersionChanges is what a version changed, in chunks.
type VersionChanges struct {
	Added   int      `json:"added"`
	Removed int      `json:"removed"`
	Kept    int      `json:"kept"`
	At      [][2]int `json:"at"` // first and last positions of the added ones, ascending; at most 100
}

// PageReading is how consecutive pages were read, and why.
type PageReading struct {
	First      int     `json:"first"` // from 1
	Last       int     `json:"last"`
	Method     string  `json:"method"`     // native, ocr, mixed, empty or unread
	Confidence float64 `json:"confidence"` // 0-1
	Reason     string  `json:"reason"`     // the worker's words
}
