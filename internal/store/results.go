package store

import (
	"context"
	"encoding/json"
	"time"
)

// Results reads what jobs have made, and counts jobs.
type Results interface {
	SummaryRow(ctx context.Context, id string) (SummaryRow, error)               // ErrNotFound
	AgentRunRow(ctx context.Context, id string) (AgentRunRow, error)             // ErrNotFound
	DerivedContentRow(ctx context.Context, id string) (DerivedContentRow, error) // ErrNotFound
	DeckRow(ctx context.Context, id string) (DeckRow, error)                     // ErrNotFound
	LLMCheckRow(ctx context.Context, id string) (LLMCheckRow, error)             // ErrNotFound
	// Stats counts the active jobs, and those that ended and were made within a time, by type and status.
	Stats(ctx context.Context, within time.Duration) ([]JobCount, error)
}

// JobCount is how many jobs of a type have a status.
type JobCount struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Jobs   int    `json:"jobs"`
}

// SummaryRow is a row of summaries.
type SummaryRow struct {
	ID               string          `json:"id"`
	JobID            string          `json:"job_id"`
	Filename         string          `json:"filename"`
	Blob             string          `json:"blob"`
	Summary          string          `json:"summary"`
	KeyPoints        json.RawMessage `json:"key_points"` // an array
	Style            string          `json:"style"`
	Language         string          `json:"language"`
	Model            string          `json:"model"`
	Unverified       json.RawMessage `json:"unverified"` // an array, or null
	LeftOut          json.RawMessage `json:"left_out"`   // an array, or null
	PromptTokens     int64           `json:"prompt_tokens"`
	CompletionTokens int64           `json:"completion_tokens"`
	RequestedBy      string          `json:"requested_by"`
	CreatedAt        time.Time       `json:"created_at"`
}

// AgentRunRow is a row of agent_runs.
type AgentRunRow struct {
	ID               string          `json:"id"`
	JobID            string          `json:"job_id"`
	TaskType         string          `json:"task_type"`
	DocumentSet      string          `json:"document_set"`
	Prompt           string          `json:"prompt"`
	Answer           string          `json:"answer"`
	Citations        json.RawMessage `json:"citations"` // an array
	Steps            json.RawMessage `json:"steps"`     // an array
	Model            string          `json:"model"`
	PromptTokens     int64           `json:"prompt_tokens"`
	CompletionTokens int64           `json:"completion_tokens"`
	RequestedBy      string          `json:"requested_by"`
	CreatedAt        time.Time       `json:"created_at"`
}

// DerivedContentRow is a row of derived_contents.
type DerivedContentRow struct {
	DerivedContent
	JobID          string    `json:"job_id"`
	SourceFilename string    `json:"source_filename"`
	CreatedAt      time.Time `json:"created_at"`
}
