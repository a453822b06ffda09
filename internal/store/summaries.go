package store

import "encoding/json"

// Partial is a model's answer to one of the calls that a task takes.
type Partial struct {
	Key              string          `json:"key"`    // hash of all that the answer depends on
	Answer           json.RawMessage `json:"answer"` // in the form of whoever keeps it; at most MaxPartial bytes
	PromptTokens     int             `json:"prompt_tokens"`
	CompletionTokens int             `json:"completion_tokens"`
	// the job that asks paid for it, in its current series; set by the store
	Own bool `json:"own"`
}

// MaxPartial bounds a Partial's answer, in bytes.
const MaxPartial = 256 << 10

// PartialQuery asks for what is kept.
type PartialQuery struct {
	JobID   string   `json:"job_id"` // who asks
	Keys    []string `json:"keys"`   // at most MaxPartialKeys
	OwnOnly bool     `json:"own_only"`
}

// MaxPartialKeys is how many keys one PartialQuery may have.
const MaxPartialKeys = 1000

// EffectSaveSummary writes a row of summaries; its args are a Summary. It adds summary_id to the result.
const EffectSaveSummary = "save_summary"

// Summary are the arguments of EffectSaveSummary. Who requested it is taken from the job.
type Summary struct {
	Filename         string `json:"filename"`
	Blob             string `json:"blob"`
	SourceSHA256     string `json:"source_sha256"`
	Summary          string `json:"summary"`
	KeyPoints        any    `json:"key_points"` // marshals to a JSON array
	Model            string `json:"model"`
	Style            string `json:"style"`
	Language         string `json:"language"`
	MaxWords         *int   `json:"max_words"` // nil: none was asked for
	Extractive       bool   `json:"extractive"`
	Unverified       any    `json:"unverified"` // marshals to a JSON array or null
	LeftOut          any    `json:"left_out"`   // marshals to a JSON array or null
	PromptTokens     int    `json:"prompt_tokens"`
	CompletionTokens int    `json:"completion_tokens"`
}
