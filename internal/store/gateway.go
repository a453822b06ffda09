package store

import (
	"context"
	"encoding/json"
	"time"
)

// Answers keep what the gateway answered. A call is paid for: of all jobs of a tenant with the same question one asks,
// and the others take its answer.
type Answers interface {
	// ClaimAnswer returns the kept answer to a question, or gives the right to ask it: a claim, which ends with the
	// lease of the job. *BusyError while another job asks. ErrFenced.
	ClaimAnswer(ctx context.Context, q AnswerQuestion) (AnswerClaim, error)
	// KeepAnswer records the answer to a claimed question, whose blob is uploaded. It returns the blob of an earlier
	// answer that is not needed any more; empty: there is none. ErrFenced, also if another job took the claim.
	KeepAnswer(ctx context.Context, a Answer) (superseded string, err error)
	// ExpireAnswers marks answers that were not used for a time, the oldest first and at most limit (1000). They don't
	// count any more. Remove their blobs, then call ForgetAnswers.
	ExpireAnswers(ctx context.Context, olderThan time.Duration, limit int) ([]ExpiredAnswer, error)
	// ForgetAnswers removes expired answers whose blobs are gone. It returns how many.
	ForgetAnswers(ctx context.Context, gone []ExpiredAnswer) (int, error)
}

// AnswerQuestion is a question to the gateway.
type AnswerQuestion struct {
	Holder
	Key          string `json:"key"` // a hash of everything that determines the answer; at most 128 bytes
	SourceSHA256 string `json:"source_sha256"`
	Mapping      string `json:"mapping"`
	Mode         string `json:"mode"`
	// Fresh: only an answer that this job paid for in its current series counts.
	Fresh bool `json:"fresh,omitempty"`
	// Missing is a blob that was not found: the answer in it doesn't count. Empty: none.
	Missing string `json:"missing,omitempty"`
}

// AnswerClaim is the answer to ClaimAnswer: a kept answer, or the right to ask.
type AnswerClaim struct {
	Kept  bool  `json:"kept"`
	Own   bool  `json:"own"`   // of a kept one: this job paid for it, in its current series
	Claim int64 `json:"claim"` // the fence of the right to ask
	First bool  `json:"first"` // no answer was kept before; a blob of an earlier claim could not be recorded
	AnswerFile
}

// AnswerFile is an answer in the tenant's container.
type AnswerFile struct {
	Blob       string          `json:"blob"`
	SHA256     string          `json:"sha256"` // in hex
	Bytes      int64           `json:"bytes"`
	HTTPStatus int             `json:"http_status"`
	GatewayMS  int64           `json:"gateway_ms"` // that the paid calls took
	Details    json.RawMessage `json:"details,omitempty"`
}

// Answer is an answer to keep.
type Answer struct {
	Holder
	Key   string `json:"key"`
	Claim int64  `json:"claim"`
	AnswerFile
}

// ExpiredAnswer is an answer that doesn't count any more.
type ExpiredAnswer struct {
	Key   string `json:"key"`
	Blob  string `json:"blob,omitempty"` // empty: it has none
	Claim int64  `json:"claim"`          // the last one: earlier ones may have left blobs that nobody kept
}

// EffectRecordCheck writes a row of llm_checks; its args are an LLMCheck. It adds check_id to the result.
const EffectRecordCheck = "record_llm_check"

// LLMCheckRow is a row of llm_checks.
type LLMCheckRow struct {
	ID         string          `json:"id"`
	JobID      string          `json:"job_id"`
	Confidence float64         `json:"confidence"`
	Verdict    string          `json:"verdict"`
	Findings   json.RawMessage `json:"findings"` // an array
	Model      string          `json:"model"`
	CreatedAt  time.Time       `json:"created_at"`
}

// LLMCheck are the arguments of EffectRecordCheck.
type LLMCheck struct {
	Confidence float64 `json:"confidence"` // 0-1
	Verdict    string  `json:"verdict"`
	Findings   any     `json:"findings"` // marshals to a JSON array
	Model      string  `json:"model"`
}
