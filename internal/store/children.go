package store

import (
	"context"
	"time"
)

// Children are the transactions of a job that submits jobs of its own: one for each blob of a prefix. The id of a child
// follows from that of the job, its series and the blob, so that no attempt submits it twice.
type Children interface {
	// DocumentAt returns the name of the document of a set that was made of a blob or an address last; empty: there is
	// none.
	DocumentAt(ctx context.Context, documentSet, blob string) (string, error)
	// CompareBlobs compares at most MaxChildren blobs with the documents that a set has of them. ErrFenced.
	CompareBlobs(ctx context.Context, q BlobComparison) ([]ComparedBlob, error)
	// DocumentsUnder lists documents of a set by their blobs. ErrFenced.
	DocumentsUnder(ctx context.Context, q UnderQuery) (UnderPage, error)
	// SubmitChildren records at most MaxChildren children of the holder's job before their messages are sent. Those that
	// are recorded already stay as they are. It returns Unsent.Since of those whose messages were not sent, by id. ErrFenced.
	SubmitChildren(ctx context.Context, h Holder, children []Submission) (since map[string]time.Time, err error)
}

// MaxChildren is how many blobs or children a call of Children takes.
const MaxChildren = 500

// NamedBlob is a blob as a list has it.
type NamedBlob struct {
	Name     string    `json:"name"`
	ETag     string    `json:"etag"`
	Modified time.Time `json:"modified_at,omitzero"` // zero: not known
}

// BlobComparison asks about blobs for the job that the caller holds.
type BlobComparison struct {
	Holder
	DocumentSet string      `json:"document_set"`
	Blobs       []NamedBlob `json:"blobs"`
}

// Child is what is known of a job that another one submits.
type Child struct {
	ID        string `json:"id"`
	Submitted bool   `json:"submitted"`
	// Queue, Message and Since, see Unsent, are those of a child whose message was not sent; empty: it was, or the child is not
	// submitted.
	Queue   string    `json:"queue"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
	// Pending: a job that this one or another has submitted for the same thing, as it is now, has not ended and is not being
	// canceled.
	Pending bool `json:"pending"`
}

// ComparedBlob is the child for a blob, and the document that was made of it; Filename is empty if there is none.
type ComparedBlob struct {
	Child
	Filename string `json:"filename"`
	ETag     string `json:"etag"` // that the document was made of
	// Readings is how often in a row the document was read from these bytes, and not as it should be: see the pipelines of
	// ingest; 0: it was. ReadAgoMS is how long ago it was ingested last.
	Readings  int   `json:"readings"`
	ReadAgoMS int64 `json:"read_ago_ms"`
	// Failed: an ingest of the blob as it is failed for good, or not long ago after its last attempt, and nobody has replayed
	// its dead letter.
	Failed bool `json:"failed"`
}

// UnderQuery asks for documents whose blobs begin with a prefix, in the order of their ids.
type UnderQuery struct {
	Holder
	DocumentSet string `json:"document_set"`
	Prefix      string `json:"prefix"`
	After       string `json:"after,omitempty"` // UnderPage.Next of the page before
	Limit       int    `json:"limit"`           // documents that are read, 1-1000; fewer may match
}

// UnderPage is the answer to an UnderQuery.
type UnderPage struct {
	Documents []DocumentUnder `json:"documents"`
	Next      string          `json:"next"` // empty: there are no more
}

// DocumentUnder is a document, and the child that deletes it.
type DocumentUnder struct {
	Child
	Filename string `json:"filename"`
	Blob     string `json:"blob"`
}
