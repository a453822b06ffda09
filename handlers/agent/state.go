package agent

import (
	"crypto/rand"
	"encoding/json"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// stateVersion rises when an older checkpoint can't be gone on with.
const stateVersion = 1

// state is the checkpoint of a run: all that another attempt needs to go on without asking the model again. What
// tools returned since the model's last answer may be missing: they are called again, for they only read.
type state struct {
	Version          int               `json:"version"`
	Mark             string            `json:"mark"`  // of document text, unlike any text
	Turns            []turn            `json:"turns"` // after the prompt
	Read             map[string]source `json:"read"`  // chunks that the model was shown, by id
	Asked            map[string]int    `json:"asked"` // calls that were made, and in which step
	Steps            []step            `json:"steps"` // for the row: what was done, without document text
	PromptTokens     int               `json:"prompt_tokens"`
	CompletionTokens int               `json:"completion_tokens"`
	Window           int               `json:"window,omitempty"`    // that the service told; zero: none
	Forgotten        int               `json:"forgotten,omitempty"` // messages of the history that did not fit
	Ended            string            `json:"ended,omitempty"`     // why finish is forced; empty: it is not
	// what the one repair round is about; empty: there was none
	Mending string `json:"mending,omitempty"`
	Told    bool   `json:"told,omitempty"` // pieces of a text were told
}

// turn is a turn of the conversation after the prompt.
type turn struct {
	Role  llm.Role       `json:"role"`
	Text  string         `json:"text,omitempty"`
	Calls []llm.ToolCall `json:"calls,omitempty"`
	Call  string         `json:"call,omitempty"`
	End   llm.End        `json:"end,omitempty"`  // of an answer
	Tool  string         `json:"tool,omitempty"` // whose result it is
	Key   string         `json:"key,omitempty"`  // of the call in Asked
	Short bool           `json:"short,omitempty"`
}

// source is where a chunk is from.
type source struct {
	Turn int `json:"turn"` // in which all of it was shown; -1: only lines of it were
}

// step is what one answer of the model requested.
type step struct {
	Tools            []toolUse `json:"tools,omitempty"`
	PromptTokens     int       `json:"prompt_tokens"`
	CompletionTokens int       `json:"completion_tokens"`
	Forced           string    `json:"forced,omitempty"` // why finish was: an end, or repair
}

// repair is the Forced of a step that mends an answer.
const repair = "repair"

// toolUse is one call of a tool. Arguments are the model's words, and cut.
type toolUse struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
	Bytes     int    `json:"bytes"` // of the result
	Problem   string `json:"problem,omitempty"`
}

// load reads a checkpoint; one that there is not, or that can't be read, is a new run.
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

// counted is how many steps count against max_steps.
func (s *state) counted() (n int) {
	for _, one := range s.Steps {
		if one.Forced != repair {
			n++
		}
	}
	return n
}

// last returns the model's last answer and which of its calls have a result; nil: it has not answered yet, or
// somebody else had a word since.
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

// use notes a call in the step that requested it.
func (s *state) use(u toolUse) {
	if n := len(s.Steps); n > 0 {
		s.Steps[n-1].Tools = append(s.Steps[n-1].Tools, u)
	}
}
