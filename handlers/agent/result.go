package agent

import (
	"encoding/json"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Result is the result of the contract and some more; the store adds run_id.
type Result struct {
	RunID string `json:"run_id,omitempty"`
	// a string; with response_schema a value that conforms to it
	Answer json.RawMessage `json:"answer"`
	// what the answer rests on; empty: on nothing that was read
	Citations        []Citation `json:"citations"`
	Steps            int        `json:"steps"`             // answers of the model, without that of a repair
	Model            string     `json:"model"`             // that answered
	PromptTokens     int        `json:"prompt_tokens"`     // that this task paid for, in all its attempts
	CompletionTokens int        `json:"completion_tokens"` // likewise

	DocumentSet   string `json:"document_set,omitempty"`   // that was looked in; none: all of them
	RetrievalOnly bool   `json:"retrieval_only,omitempty"` // passages that were found, without a model
	Ended         string `json:"ended"`                    // why: see the ends
	Refused       bool   `json:"refused,omitempty"`        // the model says that it will not
	// that named what was not read, or quoted what it doesn't say, or were too many
	DroppedCitations int      `json:"dropped_citations"`
	Warnings         []string `json:"warnings,omitempty"` // what a reader of the answer should know
}

// Citation is what a part of the answer rests on.
type Citation struct {
	DocumentID string `json:"document_id"`                // of its row
	Filename   string `json:"filename"`                   // of the document
	ChunkID    string `json:"chunk_id"`                   // of the passage
	Page       *int   `json:"page" jsonschema:"nullable"` // the first of the chunk; null: the format has none
	Pages      []int  `json:"pages,omitempty"`            // of the chunk, when they are several
	Quote      string `json:"quote"`                      // as the chunk spells it
}

// The ends: why an answer was the last one.
const (
	endAnswered   = "answered"
	endSteps      = "max_steps"
	endTokens     = "max_tokens"
	endTime       = "time"
	endRepeating  = "repeating" // the same calls again and again
	endRetrieved  = "retrieved" // without a model
	endUnfinished = "text"      // a text, although finish was requested
)

// answer is the outcome of a run.
type answer struct {
	value     json.RawMessage
	citations []Citation
	dropped   int
	ended     string
	refused   bool
	retrieved bool
	warnings  []string
}

// text returns the answer for the row.
func (a answer) text() string {
	var s string
	if json.Unmarshal(a.value, &s) == nil {
		return s
	}
	return string(a.value)
}

func (r *run) outcome(a answer) (handlers.Outcome, error) {
	if a.citations == nil {
		a.citations = []Citation{}
	}
	if r.kind == task.Agent {
		a.warnings = append(a.warnings, r.foreignLinks(a.text())...)
	}
	model := r.model()
	result := Result{
		Answer: a.value, Citations: a.citations, Steps: r.state.counted(), Model: model,
		PromptTokens:     r.state.PromptTokens,
		CompletionTokens: r.state.CompletionTokens, DocumentSet: r.payload.DocumentSet, RetrievalOnly: a.retrieved,
		Ended: a.ended, Refused: a.refused, DroppedCitations: a.dropped, Warnings: append(r.warnings(), a.warnings...),
	}
	row := store.AgentRun{
		TaskType: string(r.kind), Prompt: r.payload.Prompt, Answer: a.text(), Citations: a.citations,
		Steps: r.state.Steps, Model: model,
		PromptTokens: result.PromptTokens, CompletionTokens: result.CompletionTokens, RetrievalOnly: a.retrieved,
		Details: map[string]any{"ended": a.ended, "dropped_citations": a.dropped, "warnings": result.Warnings},
	}
	if r.payload.DocumentSet != "" {
		row.DocumentSet = &r.payload.DocumentSet
	}
	out := handlers.Outcome{Result: result, Effects: []store.Effect{{Kind: store.EffectSaveAgentRun, Args: row}}}
	if r.deps.Chat == nil || len(r.state.Steps) == r.resumed {
		out.Unused = []taskerr.Dependency{taskerr.Model, taskerr.Chat}
	}
	return out, nil
}

// model returns the name of what answered.
func (r *run) model() string {
	if r.deps.Chat == nil {
		return r.deps.Offline.Model()
	}
	return r.deps.Chat.Model()
}

// warnings returns the warnings that don't depend on the answer.
func (r *run) warnings() (all []string) {
	if r.kind == task.AI && r.payload.DocumentSet != "" {
		all = append(all, "document_set is not looked at: an ai task reads no documents")
	}
	if n := r.state.Forgotten; n > 0 {
		all = append(all, plural(n, "message")+
			" of the history did not fit into the model's context, and was left out: the oldest")
	}
	return all
}
