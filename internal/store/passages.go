package store

import "time"

// DocumentQuery narrows a listing of documents. Zero fields don't narrow.
type DocumentQuery struct {
	DocumentSet string          `json:"document_set,omitempty"` // empty: all of the tenant's
	Filter      string          `json:"filter,omitempty"`       // a part of the filename or title, ignoring case
	After       *DocumentCursor `json:"after,omitempty"`        // for the next page
	Details     bool            `json:"details,omitempty"`      // with State, Warnings and JobID
	Limit       int             `json:"limit"`                  // 1-1000
}

// DocumentCursor is a place in a listing of documents.
type DocumentCursor struct {
	Filename    string `json:"filename"`
	DocumentSet string `json:"document_set"`
}

// The values of DocumentEntry.State.
const (
	DocumentActive    = "active"
	DocumentReplacing = "replacing" // a job is making the next version, or is deleting the document
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

	// Set in a listing with Details. A database with an older schema doesn't return them.
	State    string   `json:"state,omitempty"`
	Warnings []string `json:"warnings,omitempty"` // of the job that made the version
	JobID    string   `json:"job_id,omitempty"`   // of the job that made the version
}

// DocumentOutline is a document and its headings in reading order, at most 1000.
type DocumentOutline struct {
	DocumentEntry
	Headings []OutlineEntry `json:"headings"`
}

// OutlineEntry is a heading and the chunk in which it begins.
type OutlineEntry struct {
	Heading
	ChunkID string `json:"chunk_id"` // empty: not known
}

// PassageQuery asks for chunks by id.
type PassageQuery struct {
	DocumentSet string   `json:"document_set,omitempty"` // empty: all of the tenant's
	IDs         []string `json:"ids"`                    // at most 200; one that is not a UUID is unknown
	Around      int      `json:"around,omitempty"`       // number of neighbours on either side of each, 0-10
	Limit       int      `json:"limit"`                  // 1-1000
}

// DocumentPassageQuery asks for the chunks of a document.
type DocumentPassageQuery struct {
	DocumentSet string `json:"document_set,omitempty"` // empty: all of the tenant's
	DocumentID  string `json:"document_id"`
	From        int    `json:"from"`  // position of the first
	Limit       int    `json:"limit"` // 1-1000
}

// Passage is a chunk of an active version, with all that is needed to cite it.
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
}

// EffectSaveAgentRun records an answer of the agent. Its args are an AgentRun. It adds run_id to the result, and
// takes the row's requested_by from the job.
const EffectSaveAgentRun = "save_agent_run"

// AgentRun has the arguments of EffectSaveAgentRun.
type AgentRun struct {
	TaskType         string         `json:"task_type"`
	DocumentSet      *string        `json:"document_set"` // nil: none, or all of the tenant's
	Prompt           string         `json:"prompt"`
	Answer           string         `json:"answer"` // JSON if the task has a schema
	Citations        any            `json:"citations"`
	Steps            any            `json:"steps"`
	Model            string         `json:"model"`
	PromptTokens     int            `json:"prompt_tokens"`
	CompletionTokens int            `json:"completion_tokens"`
	RetrievalOnly    bool           `json:"retrieval_only"`
	Details          map[string]any `json:"details,omitempty"`
}
