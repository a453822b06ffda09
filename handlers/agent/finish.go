package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const finishName = "finish"

// modelAnswer is the model's answer before any check.
type modelAnswer struct {
	answer    json.RawMessage
	citations []cited
	ended     string
	problem   string // what is wrong with its form; empty: nothing
}

// finishTool returns the tool whose call is the answer. The service enforces a shape if it can.
func (r *run) finishTool() llm.Tool {
	return llm.Tool{
		Name: finishName, Description: "End with the answer and what it rests on. Each quote is copied word for " +
			"word from the chunk that it names.",
		Parameters: r.wrapped(), Strict: r.payload.shape == nil || r.payload.shape.strict,
	}
}

// wrapped returns the schema of an object with the answer and, for the agent, the citations.
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
		properties["citations"] = map[string]any{"type": "array", "description": fmt.Sprintf("at most %d", maxCitations), "items": map[string]any{
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
		panic("a schema can't be written as JSON: " + err.Error()) // impossible: it was decoded from JSON
	}
	return raw
}

// finishing decodes a call of finish.
func (r *run) finishing(call llm.ToolCall) modelAnswer {
	var args struct {
		Answer    json.RawMessage `json:"answer"`
		Citations []cited         `json:"citations"`
	}
	s := modelAnswer{ended: r.state.Ended}
	if err := arguments(call.Arguments, &args,
		`{"answer": …, "citations": [{"chunk_id": "…", "quote": "…"}]}`); err != nil {
		s.problem = err.Error()
	}
	s.answer, s.citations = args.Answer, args.Citations
	return s
}

// draft returns the last usable answer, even if something is wrong with it; nil: there is none.
func (r *run) draft(ctx context.Context) (*answer, error) {
	for _, t := range slices.Backward(r.state.Turns) {
		var drafts []modelAnswer
		for _, c := range t.Calls {
			if isFinish(c) {
				drafts = append(drafts, r.finishing(c))
			}
		}
		if t.Role == llm.Assistant && len(t.Calls) == 0 {
			drafts = append(drafts, r.textAnswer(t))
		}
		for _, s := range drafts {
			if a, _, err := r.examine(ctx, &s); a != nil || err != nil {
				return a, err
			}
		}
	}
	return nil, nil
}

// finish accepts the model's answer (nil: not yet) and makes accept's complaint the result of the call. again: another call
// of the same answer was refused. Its complaint is the one to mend, and the model has not been able to do so.
func (r *run) finish(ctx context.Context, call llm.ToolCall, again bool) (*answer, error) {
	if again {
		return r.finishAgain(ctx, call)
	}
	a, err := r.accept(ctx, r.finishing(call))
	if a != nil || err != nil {
		return a, err
	}
	// accept has appended its complaint as the last turn.
	last := &r.state.Turns[len(r.state.Turns)-1]
	last.Role, last.Call, last.Tool = llm.ToolTurn, call.ID, finishName
	r.state.use(toolUse{Name: finishName, Bytes: len(last.Text), Problem: r.state.Correcting})
	return nil, nil
}

// finishAgain accepts an answer with which nothing is wrong.
func (r *run) finishAgain(ctx context.Context, call llm.ToolCall) (*answer, error) {
	s := r.finishing(call)
	a, wrong, err := r.examine(ctx, &s)
	if err != nil {
		return nil, err
	}
	if len(wrong) == 0 {
		return a, nil
	}
	text := "(not taken: " + finishName + " was called more than once. Call it once, mended as the result of the first call says.)"
	r.state.Turns = append(r.state.Turns, turn{Role: llm.ToolTurn, Call: call.ID, Tool: finishName, Text: text})
	r.state.use(toolUse{Name: finishName, Bytes: len(text), Problem: problemMany})
	return nil, nil
}

// textAnswer returns the answer in a text: with a shape, the requested object.
func (r *run) textAnswer(t turn) modelAnswer {
	s := modelAnswer{answer: quoted(t.Text), ended: r.state.Ended}
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

// accept checks an answer. The first time something is wrong, it asks the model to correct it and returns nil. The
// second time, an answer in the wrong form is an error, and citations that don't hold are dropped.
func (r *run) accept(ctx context.Context, s modelAnswer) (*answer, error) {
	a, wrong, err := r.examine(ctx, &s)
	if err != nil {
		return nil, err
	}
	if len(wrong) == 0 {
		return a, nil
	}
	if r.state.Correcting == "" {
		r.state.Correcting = "answer"
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
		code, demand := "_ANSWER_UNUSABLE", "is not in the requested form"
		if r.payload.shape != nil {
			code, demand = "_SCHEMA_NOT_MET", "does not conform to response_schema"
		}
		return nil, &taskerr.Error{
			Class: taskerr.ValidationError, Code: upper(r.kind) + code,
			Message: fmt.Sprintf("the model's answer %s, even after a request to correct it: %s", demand,
				clip(what, 300)),
			Hint: "choose another model in OPENAI_CHAT_MODEL, and replay the task; or ask for a simpler response_schema, or " +
				"without one, under a new task_id",
		}
	}
	return a, nil
}

// examine reports what is wrong with an answer. a is nil if its form makes it unusable.
func (r *run) examine(ctx context.Context, s *modelAnswer) (a *answer, wrong []string, err error) {
	if s.ended == "" {
		s.ended = endAnswered
	}
	switch {
	case s.problem != "":
	case len(s.answer) == 0 || string(s.answer) == "null" && r.payload.shape == nil:
		s.problem = "it has no answer"
	case r.payload.shape != nil:
		if s.answer, wrong, err = r.conforming(s.answer); len(wrong) > 0 || err != nil {
			return nil, wrong, err
		}
	default:
		var text string
		if json.Unmarshal(s.answer, &text) != nil {
			s.answer = quoted(string(s.answer)) // e.g. a number: its text is accepted
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

// cutText returns a truncated answer, which is used if no complete one follows.
func (r *run) cutText(s modelAnswer) *answer {
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

// conforming returns an answer that conforms to the shape, or what is wrong with it. Models like to return an object
// as a string of JSON.
func (r *run) conforming(value json.RawMessage) (json.RawMessage, []string, error) {
	wrong, err := r.payload.shape.check(value)
	var text string
	if len(wrong) > 0 && json.Unmarshal(value, &text) == nil && json.Valid([]byte(text)) {
		var inner []string
		if inner, err = r.payload.shape.check(json.RawMessage(text)); len(inner) == 0 && err == nil {
			return json.RawMessage(text), nil, nil
		}
	}
	if err != nil {
		return nil, nil, &taskerr.Error{
			Class: taskerr.ValidationError, Code: upper(r.kind) + "_SCHEMA_TOO_COMPLEX",
			Message: "the model's answer can't be checked against response_schema: " + err.Error(),
		}
	}
	return value, wrong, nil
}
