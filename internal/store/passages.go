package store

import "time"

// DocumentQuery narrows a listing of documents. Zero fields don't narrow.
type DocumentQuery struct {
	DocumentSet string          `json:"document_set,omitempty"` // empty: all of the tenant's
	Filter      string          `json:"filter,omitempty"`       // a part of the filename or title, whatever its case
	After       *DocumentCursor `json:"after,omitempty"`        // for the next page
	Details     bool            `json:"details,omitempty"`      // State, Warnings and JobID, too
	Limit       int             `json:"limit"`                  // 1-1000
}

// DocumentCursor is a place in a listing of documents.
type DocumentCursor struct {
	Filename    string `json:"filename"`
	DocumentSet string `json:"document_set"`
}

// The states of a document.
const (
	DocumentActive    = "active"
	DocumentReplacing = "replacing" // a job makes the next version, or deletes the document
)

// DocumentEntry is a document that has an active version.
type DocumentEntry struct {
	DocumentID  string    `json:"document_id"`
	DocumentSet string    `json:"document_set"`
	Filename    string    `json:"filename"`
	Title       string    `json:"title"`    // empty: none was found
	Language    string    `json:"language"` // as in Enrichment; empty: not looked for
	Pages       int       `json:"pages"`    // 0: the format has none
	Version     int       `json:"version"`
	Chunks      int       `json:"chunks"`
	UpdatedAt   time.Time `json:"updated_at,omitzero"`

	// With Details; empty from a database that was not migrated since.
	State    string   `json:"state,omitempty"`
	Warnings []string `json:"warnings,omitempty"` // of the job that made the version
	JobID    string   `json:"job_id,omitempty"`   // of that job
}

// DocumentOutline is a document and its headings in reading order, at most 1000.
type DocumentOutline struct {
	DocumentEntry
	Headings []OutlineEntry `json:"headings"`
	// Blob is where the document comes from: the name of a blob, or a web address. ContentSHA256 is the hash of its bytes,
	// in hex. Both are empty from a database that was not migrated since.
	Blob          string `json:"blob"`
	ContentSHA256 string `json:"content_sha256"`
}

// OutlineEntry is a heading and the chunk in which it begins.
type OutlineEntry struct {
	Heading
	ChunkID string `json:"chunk_id"` // empty: unknown
}

// PassageQuery is a query for chunks by their ids.
type PassageQuery struct {
	DocumentSet string   `json:"document_set,omitempty"` // empty: all of the tenant's
	IDs         []string `json:"ids"`                    // at most 200; other texts than UUIDs match nothing
	Around      int      `json:"around,omitempty"`       // neighbours on both sides of each, 0-10
	Limit       int      `json:"limit"`                  // 1-1000
}

// DocumentPassageQuery is a query for the chunks of a document.
type DocumentPassageQuery struct {
	DocumentSet string `json:"document_set,omitempty"` // empty: all of the tenant's
	DocumentID  string `json:"document_id"`
	From        int    `json:"from"`  // position of the first
	Limit       int    `json:"limit"` // 1-1000
	// Page selects the chunks of a page, with their boxes; 0: those of all pages, without. A database that was not
	// migrated since ignores it.
	Page int `json:"page,omitempty"`
}

// Passage is a chunk of an active version, with everything that a citation needs.
type Passage struct {
	ChunkID     string   `json:"chunk_id"`
	DocumentID  string   `json:"document_id"`
	DocumentSet string   `json:"document_set"`
	Filename    string   `json:"filename"`
	Version     int      `json:"version"`
	Position    int      `json:"position"` // in the document, from 0
	Content     string   `json:"content"`
	HeadingPath []string `json:"heading_path"`
	Pages       []int    `json:"pages"`
	Kind        string   `json:"kind"`
	Boxes       []Box    `json:"boxes,omitempty"` // of the chunks of a page
}

// EffectSaveAgentRun records an answer of the agent; its args are an AgentRun. It adds run_id to the result, and the
// job's requester to the row.
const EffectSaveAgentRun = "save_agent_run"

// AgentRun are the arguments of EffectSaveAgentRun.
type AgentRun struct {
	TaskType         string         `json:"task_type"`
	DocumentSet      *string        `json:"document_set"` // nil: none, or all of the tenant's
	Prompt           string         `json:"prompt"`
	Answer           string         `json:"answer"` // with a schema: its JSON
	Citations        any            `json:"citations"`
	Steps            any            `json:"steps"`
	Model            string         `json:"model"`
	PromptTokens     int            `json:"prompt_tokens"`
	CompletionTokens int            `json:"completion_tokens"`
	RetrievalOnly    bool           `json:"retrieval_only"`
	Details          map[string]any `json:"details,omitempty"`
}
