package store

import (
	"bytes"
	"encoding/json"
)

// Partial is a model's answer to one call of a task.
type Partial struct {
	Key              string          `json:"key"`    // hash of everything that determines the answer
	Answer           json.RawMessage `json:"answer"` // in the caller's form; at most MaxPartial bytes
	PromptTokens     int             `json:"prompt_tokens"`
	CompletionTokens int             `json:"completion_tokens"`
	// The document that it is about; empty: what the job's payload names.
	Filename string `json:"filename,omitempty"`
	Blob     string `json:"blob,omitempty"`
	// the querying job paid for it in its current series; set by the store
	Own bool `json:"own"`
}

// MaxPartial bounds a Partial's answer, in bytes.
const MaxPartial = 256 << 10

// Fits reports whether the store takes the answer. It refuses a whole batch with one that is too long, which the
// database measures as it writes it: with a space after each comma and colon.
func (p Partial) Fits() bool {
	spaces := bytes.Count(p.Answer, []byte(",")) + bytes.Count(p.Answer, []byte(":"))
	return len(p.Answer)+spaces <= MaxPartial
}

// PartialQuery is a query for kept answers.
type PartialQuery struct {
	JobID   string   `json:"job_id"` // the querying job
	Keys    []string `json:"keys"`   // at most MaxPartialKeys
	OwnOnly bool     `json:"own_only"`
}

// MaxPartialKeys is how many keys one PartialQuery may have.
const MaxPartialKeys = 1000

// EffectSaveSummary writes a row of summaries; its args are a Summary. It adds summary_id to the result.
const EffectSaveSummary = "save_summary"

// Summary are the arguments of EffectSaveSummary. The requester is that of the job.
type Summary struct {
	Filename         string `json:"filename"`
	Blob             string `json:"blob"`
	SourceSHA256     string `json:"source_sha256"`
	Summary          string `json:"summary"`
	KeyPoints        any    `json:"key_points"` // marshals to a JSON array
	Model            string `json:"model"`
	Style            string `json:"style"`
	Language         string `json:"language"`
	MaxWords         *int   `json:"max_words"` // nil: unlimited
	Extractive       bool   `json:"extractive"`
	Unverified       any    `json:"unverified"` // marshals to a JSON array or null
	LeftOut          any    `json:"left_out"`   // marshals to a JSON array or null
	PromptTokens     int    `json:"prompt_tokens"`
	CompletionTokens int    `json:"completion_tokens"`
}
