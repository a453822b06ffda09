package agent

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// stateVersion increases when older checkpoints become unusable.
const stateVersion = 1

// state is the checkpoint of a run: all that the next attempt needs to continue without asking the model again. Results
// of tools since the model's last answer may be missing: those calls are repeated, as they only read.
type state struct {
	Version          int               `json:"version"`
	Mark             string            `json:"mark"`  // encloses document text; random
	Turns            []turn            `json:"turns"` // after the prompt
	Read             map[string]source `json:"read"`  // chunks that the model has seen, by id
	Asked            map[string]int    `json:"asked"` // calls, and the step of each
	Steps            []step            `json:"steps"` // for the row, without document text
	PromptTokens     int               `json:"prompt_tokens"`
	CompletionTokens int               `json:"completion_tokens"`
	Window           int               `json:"window,omitempty"`    // as the service reported; zero: it didn't
	Forgotten        int               `json:"forgotten,omitempty"` // messages of the history that were dropped
	Ended            string            `json:"ended,omitempty"`     // why finish is forced; empty: it isn't
	// what the one correction is about; empty: none was requested
	Correcting string `json:"mending,omitempty"`
	Streamed   bool   `json:"told,omitempty"` // pieces of a text were streamed
}

// turn is a turn of the conversation after the prompt.
type turn struct {
	Role  llm.Role       `json:"role"`
	Text  string         `json:"text,omitempty"`
	Calls []llm.ToolCall `json:"calls,omitempty"`
	Call  string         `json:"call,omitempty"`
	End   llm.End        `json:"end,omitempty"`  // of an answer
	Tool  string         `json:"tool,omitempty"` // of a result
	Key   string         `json:"key,omitempty"`  // of the call in Asked
	Short bool           `json:"short,omitempty"`
}

// source is where the conversation shows a chunk.
type source struct {
	Turn int `json:"turn"` // with the whole chunk; -1: only lines or parts were shown
}

// step is one answer of the model.
type step struct {
	Tools            []toolUse `json:"tools,omitempty"`
	PromptTokens     int       `json:"prompt_tokens"`
	CompletionTokens int       `json:"completion_tokens"`
	Forced           string    `json:"forced,omitempty"` // why finish was: an end, or repair
}

// repair is the Forced of a step that corrects an answer.
const repair = "repair"

// toolUse is one call of a tool. Arguments are the model's, truncated.
type toolUse struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
	Bytes     int    `json:"bytes"` // of the result
	Problem   string `json:"problem,omitempty"`
}

// load decodes a checkpoint. A missing or unreadable one is a new run.
func load(raw json.RawMessage) *state {
	var s state
	if json.Unmarshal(raw, &s) != nil || s.Version != stateVersion || s.Mark == "" {
		s = state{Version: stateVersion, Mark: strings.ToLower(rand.Text())}
	}
	if s.Read == nil {
		s.Read = map[string]source{}
	}
	if s.Asked == nil {
		s.Asked = map[string]int{}
	}
	return &s
}

// counted returns how many steps count against max_steps.
func (s *state) counted() (n int) {
	for _, one := range s.Steps {
		if one.Forced != repair {
			n++
		}
	}
	return n
}

// last returns the model's last answer and which of its calls have a result; nil: it has not answered yet, or a user's
// message follows.
func (s *state) last() (answer *turn, answered map[string]bool) {
	answered = map[string]bool{}
	for i := len(s.Turns) - 1; i >= 0; i-- {
		switch t := &s.Turns[i]; t.Role {
		case llm.ToolTurn:
			answered[t.Call] = true
		case llm.Assistant:
			return t, answered
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// cutOff reports whether the model's last answer was cut off.
func (s *state) cutOff() bool {
	for _, t := range slices.Backward(s.Turns) {
		if t.Role == llm.Assistant {
			return t.End == llm.CutOff
		}
	}
	return false
}

// use records a call in the step that requested it.
func (s *state) use(u toolUse) {
	if n := len(s.Steps); n > 0 {
		s.Steps[n-1].Tools = append(s.Steps[n-1].Tools, u)
	}
}
