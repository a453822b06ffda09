package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	finishName   = "finish"
	maxCitations = 100
)

// said is an answer as the model gave it.
type said struct {
	answer    json.RawMessage
	citations []cited
	ended     string
	problem   string // what is wrong with its form; empty: nothing
}

type cited struct {
	ChunkID string `json:"chunk_id"`
	Quote   string `json:"quote"`
}

// finishTool is the tool whose call is the answer. With a shape the service enforces it, where it can.
func (r *run) finishTool() llm.Tool {
	return llm.Tool{
		Name: finishName, Description: "End with the answer and what it rests on. Each quote is copied word for " +
			"word from the chunk that it names.",
		Parameters: r.wrapped(), Strict: r.payload.shape == nil || r.payload.shape.strict,
	}
}

// wrapped is the schema of an object with the answer, and, of the agent, the citations.
func (r *run) wrapped() json.RawMessage {
	const place = "#/properties/answer"
	var of any = map[string]any{
		"type": "string", "description": "the answer, with [n] where it rests on the n-th citation",
	}
	if r.payload.shape != nil {
		of = within(r.payload.shape.raw, place)
	}
	properties, required := map[string]any{"answer": of}, []string{"answer"}
	if r.kind == task.Agent {
		required = append(required, "citations")
		properties["citations"] = map[string]any{"type": "array", "items": map[string]any{
			"type": "object", "required": []string{"chunk_id", "quote"}, "additionalProperties": false,
			"properties": map[string]any{
				"chunk_id": map[string]any{"type": "string"},
				"quote": map[string]any{
					"type": "string", "description": "a sentence or part of it, as it stands in the chunk",
				},
			},
		}}
	}
	raw, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	if err != nil {
		panic("a schema can't be written as JSON: " + err.Error()) // it was read from JSON
	}
	return raw
}

// finishing reads a call of finish.
func (r *run) finishing(call llm.ToolCall) said {
	var args struct {
		Answer    json.RawMessage `json:"answer"`
		Citations []cited         `json:"citations"`
	}
	s := said{ended: r.state.Ended}
	if err := arguments(call.Arguments, &args,
		`{"answer": …, "citations": [{"chunk_id": "…", "quote": "…"}]}`); err != nil {
		s.problem = err.Error()
	}
	s.answer, s.citations = args.Answer, args.Citations
	if len(s.citations) > maxCitations {
		s.citations = s.citations[:maxCitations]
	}
	return s
}

// draft is the last answer that can be used, though something is wrong with it; nil: there is none.
func (r *run) draft(ctx context.Context) (*answer, error) {
	for _, t := range slices.Backward(r.state.Turns) {
		var drafts []said
		for _, c := range t.Calls {
			if isFinish(c) {
				drafts = append(drafts, r.finishing(c))
			}
		}
		if t.Role == llm.Assistant && len(t.Calls) == 0 {
			drafts = append(drafts, r.spoken(t))
		}
		for _, s := range drafts {
			if a, _, err := r.examine(ctx, &s); a != nil || err != nil {
				return a, err
			}
		}
	}
	return nil, nil
}

// finish takes the model's answer, or returns what to correct.
func (r *run) finish(ctx context.Context, call llm.ToolCall) (*answer, error) {
	a, err := r.accept(ctx, r.finishing(call))
	if a != nil || err != nil {
		return a, err
	}
	// accept left its complaint as the last turn: it is the result of this call.
	last := &r.state.Turns[len(r.state.Turns)-1]
	last.Role, last.Call, last.Tool = llm.ToolTurn, call.ID, finishName
	r.state.use(toolUse{Name: finishName, Bytes: len(last.Text), Problem: r.state.Mending})
	return nil, nil
}

// spoken is an answer that the model gave as a text: with a shape the requested object.
func (r *run) spoken(t turn) said {
	s := said{answer: quoted(t.Text), ended: r.state.Ended}
	if r.payload.shape != nil {
		var object struct {
			Answer json.RawMessage `json:"answer"`
		}
		if json.Unmarshal([]byte(t.Text), &object) == nil && object.Answer != nil {
			s.answer = object.Answer
		} else if json.Valid([]byte(t.Text)) {
			s.answer = json.RawMessage(t.Text)
		} else {
			s.problem = "it is not JSON"
		}
	}
	if t.End == llm.CutOff {
		s.problem = "it was cut off: it is too long"
	}
	return s
}

// accept checks an answer. nil: it is told what is wrong, and has one more go. After that one without the form that
// was asked for is an error, and citations that don't hold are left out.
func (r *run) accept(ctx context.Context, s said) (*answer, error) {
	a, wrong, err := r.examine(ctx, &s)
	if err != nil {
		return nil, err
	}
	if len(wrong) == 0 {
		return a, nil
	}
	if r.state.Mending == "" {
		r.state.Mending = "answer"
		r.reply("The answer can't be taken yet:\n- " + strings.Join(wrong, "\n- ") +
			"\nGive it again, whole and mended.")
		return nil, nil
	}
	if a == nil {
		if a, err = r.draft(ctx); a != nil || err != nil {
			return a, err
		}
		what := s.problem
		if what == "" {
			what = places(s.answer, r.payload.shape)
		}
		code, demand := "_ANSWER_UNUSABLE", "is not in the form that was asked for"
		if r.payload.shape != nil {
			code, demand = "_SCHEMA_NOT_MET", "does not conform to response_schema"
		}
		return nil, &taskerr.Error{
			Class: taskerr.ValidationError, Code: upper(r.kind) + code,
			Message: fmt.Sprintf("the model's answer %s, also after it was asked to mend it: %s", demand,
				clip(what, 300)),
		}
	}
	return a, nil
}

// examine says what is wrong with an answer. It is nil when its form alone makes it unusable.
func (r *run) examine(ctx context.Context, s *said) (a *answer, wrong []string, err error) {
	if s.ended == "" {
		s.ended = endAnswered
	}
	switch {
	case s.problem != "":
	case len(s.answer) == 0 || string(s.answer) == "null" && r.payload.shape == nil:
		s.problem = "it has no answer"
	case r.payload.shape != nil:
		if s.answer, wrong = r.conforming(s.answer); len(wrong) > 0 {
			return nil, wrong, nil
		}
	default:
		var text string
		if json.Unmarshal(s.answer, &text) != nil {
			s.answer = quoted(string(s.answer)) // a number, say: its text will do
		} else if strings.TrimSpace(text) == "" {
			s.problem = "the answer is empty"
		}
	}
	if s.problem != "" {
		if a = r.cutText(*s); a == nil {
			return nil, []string{s.problem}, nil
		}
		return a, []string{s.problem}, nil
	}
	a = &answer{value: s.answer, ended: s.ended}
	if r.kind == task.AI {
		return a, nil, nil
	}
	wrong, err = r.verify(ctx, a, s.citations)
	return a, wrong, err
}

// cutText is a text that was cut off: better than nothing, when it can't be had whole.
func (r *run) cutText(s said) *answer {
	var text string
	if r.payload.shape != nil || json.Unmarshal(s.answer, &text) != nil || strings.TrimSpace(text) == "" {
		return nil
	}
	return &answer{
		value: s.answer, ended: s.ended, warnings: []string{
			"the answer was cut off: it is longer than the model may answer",
		},
	}
}

// conforming is an answer that conforms to the shape, or what is wrong with it. Models like to give an object as a
// string of JSON.
func (r *run) conforming(value json.RawMessage) (json.RawMessage, []string) {
	wrong := r.payload.shape.check(value)
	var text string
	if len(wrong) > 0 && json.Unmarshal(value, &text) == nil && json.Valid([]byte(text)) &&
		len(r.payload.shape.check(json.RawMessage(text))) == 0 {
		return json.RawMessage(text), nil
	}
	return value, wrong
}

// verify keeps those citations that hold: their chunks were read in this run, and are there still, and their quotes
// occur in them. It says what is wrong with the others.
func (r *run) verify(ctx context.Context, a *answer, all []cited) (wrong []string, err error) {
	chunks, err := r.citable(ctx, all)
	if err != nil {
		return nil, err
	}
	kept := map[int]int{} // numbers of citations, from 1: as the model has them, as they are now
	for i, c := range all {
		p, there := chunks[c.ChunkID]
		if !there {
			wrong = append(wrong, fmt.Sprintf("citation %d: the chunk %q was not read in this run: cite what you read",
				i+1, clip(c.ChunkID, 40)))
			continue
		}
		quote, found := locate(p.Content, c.Quote)
		if !found {
			wrong = append(wrong, fmt.Sprintf(
				"citation %d: its quote does not occur in the chunk: copy a part of it word for word, without "+
					"leaving anything out", i+1))
			continue
		}
		a.citations = append(a.citations, citation(p, quote))
		kept[i+1] = len(a.citations)
	}
	if a.dropped = len(all) - len(a.citations); a.dropped > 0 {
		a.value = renumber(a.value, kept, len(all))
		a.warnings = append(a.warnings, plural(a.dropped, "citation")+
			" could not be verified, and left out: what the answer says there rests on nothing that was read")
	} else if len(all) == 0 {
		a.warnings = append(a.warnings, "the answer cites nothing")
	}
	a.warnings = append(a.warnings, r.foreignLinks(a.text())...)
	return wrong, nil
}

// citable are those of the cited chunks that were read, by their ids.
func (r *run) citable(ctx context.Context, all []cited) (map[string]store.Passage, error) {
	var read []string
	for _, c := range all {
		if _, ok := r.state.Read[c.ChunkID]; ok {
			read = append(read, c.ChunkID)
		}
	}
	chunks := map[string]store.Passage{}
	if len(read) == 0 {
		return chunks, nil
	}
	passages, err := r.deps.Store.Passages(ctx, store.PassageQuery{
		DocumentSet: r.payload.DocumentSet, IDs: read, Limit: 200,
	})
	if err != nil {
		return nil, fmt.Errorf("read what the answer cites: %w", err)
	}
	for _, p := range passages {
		chunks[p.ChunkID] = p
	}
	return chunks, nil
}

func citation(p store.Passage, quote string) Citation {
	c := Citation{DocumentID: p.DocumentID, Filename: p.Filename, ChunkID: p.ChunkID, Quote: quote}
	if len(p.Pages) > 0 {
		c.Page = &p.Pages[0]
	}
	if len(p.Pages) > 1 {
		c.Pages = p.Pages
	}
	return c
}
