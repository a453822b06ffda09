package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Limits of a tool's result.
const (
	maxResult   = 24 << 10 // bytes
	leastResult = 4 << 10
	noteRoom    = 400 // bytes reserved for notes about the rest
)

// tool is a tool of the model. call decodes the arguments and adds to the result. The model gets a *mistake; any other
// error ends the attempt.
type tool struct {
	llm.Tool
	call func(ctx context.Context, arguments string, out *result) error
}

// mistake is what the model did wrong and how to correct it.
type mistake struct{ text string }

func (e *mistake) Error() string { return e.text }

func mistaken(format string, args ...any) error { return &mistake{fmt.Sprintf(format, args...)} }

// result is a tool's result, up to a size.
type result struct {
	text strings.Builder
	most int
	turn int // index of the turn that it becomes
}

// add adds a part, or returns false if it has no room for it. The first part is truncated instead.
func (o *result) add(part string) bool {
	room := o.room()
	if len(part) <= room {
		o.text.WriteString(part)
		return true
	}
	if o.text.Len() > 0 {
		return false
	}
	o.text.WriteString(strings.ToValidUTF8(part[:max(room, 0)], "") + "\n(cut here: it is too long for one result)\n")
	return true
}

// room is how many bytes a part may have.
func (o *result) room() int { return o.most - noteRoom - o.text.Len() }

// note adds a remark to the model.
func (o *result) note(format string, args ...any) {
	fmt.Fprintf(&o.text, "("+format+")\n", args...)
}

// The problems of calls in the row of a run.
const (
	problemRepeated  = "repeated"
	problemUnknown   = "unknown tool"
	problemArguments = "arguments"
	problemSlow      = "took too long"
	problemMany      = "too many at once"
)

// toolbox returns the tools of a task.
func (r *run) toolbox() []tool {
	if r.kind == task.AI {
		return nil
	}
	define := func(name, description, parameters string, call func(context.Context, string, *result) error) tool {
		return tool{llm.Tool{Name: name, Description: description, Parameters: json.RawMessage(parameters)}, call}
	}
	return []tool{
		define("search", "Find passages by meaning and by words. Words in quotes are a phrase, OR in capitals is "+
			"one or the other, a minus before a word or phrase excludes it.", searchParameters, r.search),
		define("read_chunks", "Read passages by their chunk ids, and on request those before and after each.",
			`{"type":"object","properties":{
			"ids":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":20,"description":"chunk ids from other results"},
			"neighbours":{"type":"integer","minimum":0,"maximum":3,"description":"how many passages before and after each to read as well (0)"},
			"from":{"type":"integer","minimum":0,"description":"where to go on in one passage that was cut, as the cut says (0)"}},
			"required":["ids"],"additionalProperties":false}`, r.readChunks),
		define("outline", "The headings of a document, with the chunk that each begins in.",
			`{"type":"object","properties":{
			"document":{"type":"string","description":"its document_id, or its file's name"}},
			"required":["document"],"additionalProperties":false}`, r.outline),
		define("grep", "Lines of a document that match a regular expression (RE2 syntax), with their chunks. For "+
			"exact words, names and numbers.", `{"type":"object","properties":{
			"document":{"type":"string","description":"its document_id, or its file's name"},
			"pattern":{"type":"string","description":"RE2; (?i) at its start ignores case"}},
			"required":["document","pattern"],"additionalProperties":false}`, r.grep),
		define("list_documents", "Names, titles and sizes of the documents, 50 to a page.",
			`{"type":"object","properties":{
			"filter":{"type":"string","description":"only those with this in their name or title"},
			"page":{"type":"integer","minimum":1,"maximum":20,"description":"which page (1)"}},
			"required":[],"additionalProperties":false}`, r.listDocuments),
	}
}

func (r *run) tool(name string) (tool, bool) {
	for _, t := range r.tools {
		if t.Name == name {
			return t, true
		}
	}
	return tool{}, false
}

// use executes one call, the n-th of its answer, and adds its result to the conversation. again: it was not executed,
// because the conversation already has its result.
func (r *run) use(ctx context.Context, call llm.ToolCall, n int) (again bool, err error) {
	out := &result{most: min(max(4*r.window()/8, leastResult), maxResult), turn: len(r.state.Turns)}
	key := call.Name + " " + canonical(call.Arguments)
	problem, err := r.make(ctx, call, key, n, out)
	if err != nil {
		return false, err
	}
	t := turn{Role: llm.ToolTurn, Call: call.ID, Tool: call.Name, Text: out.text.String()}
	if problem == "" {
		t.Key = key
		r.state.Asked[key] = len(r.state.Steps)
	}
	r.state.Turns = append(r.state.Turns, t)
	r.state.use(toolUse{
		Name: clip(call.Name, 64), Arguments: clip(call.Arguments, 300), Bytes: len(t.Text), Problem: problem,
	})
	return problem == problemRepeated, nil
}

func (r *run) make(ctx context.Context, call llm.ToolCall, key string, n int, out *result) (problem string, err error) {
	t, known := r.tool(call.Name)
	before, made := r.state.Asked[key]
	switch {
	case n >= maxCalls:
		out.note("not done: at most %d calls of one answer are made. Make it again in the next one.", maxCalls)
		return problemMany, nil
	case !known:
		out.note("there is no tool %q. The tools are %s.", clip(call.Name, 64), r.toolNames())
		return problemUnknown, nil
	case made:
		out.note("you made this very call in answer %d, and its result is above: it would be the same. Ask "+
			"something else, or call %s.", before, finishName)
		return problemRepeated, nil
	}
	bounded, cancel := context.WithTimeout(ctx, r.deps.StepTimeout)
	defer cancel()
	err = t.call(bounded, call.Arguments, out)
	wrong, isMistake := errors.AsType[*mistake](err)
	switch {
	case isMistake:
		out.text.Reset()
		out.note("the call failed: %s", wrong.text)
		return problemArguments, nil
	case err != nil && ctx.Err() == nil && bounded.Err() != nil:
		out.text.Reset()
		out.note("the call took longer than %v and was given up. Ask for less: fewer passages, or a narrower pattern.",
			r.deps.StepTimeout)
		return problemSlow, nil
	case err != nil:
		return "", fmt.Errorf("use the tool %s: %w", t.Name, err)
	}
	return "", nil
}

func (r *run) toolNames() string {
	var names []string
	for _, t := range r.tools {
		names = append(names, t.Name)
	}
	return strings.Join(append(names, finishName), ", ")
}

// arguments decodes the model's arguments. Unknown ones are an error: ignored ones would seem to have an effect.
func arguments(raw string, into any, example string) error {
	d := json.NewDecoder(strings.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("there is more behind the object")
	}
	why := strings.TrimPrefix(err.Error(), "json: ")
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		why = fmt.Sprintf("%s can't be a %s", kind.Field, kind.Value)
	}
	return mistaken("the arguments are not right (%s). Write one JSON object such as %s", clip(why, 120), example)
}

// canonical returns JSON in a canonical form; anything else is returned unchanged.
func canonical(raw string) string {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return raw
	}
	var b bytes.Buffer
	if json.NewEncoder(&b).Encode(v) != nil {
		return raw
	}
	return strings.TrimSpace(b.String())
}
