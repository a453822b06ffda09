package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// run is one task on its way.
type run struct {
	*Handler
	call    handlers.Call
	payload Payload
	state   *state
	resumed int       // steps that an earlier attempt made
	began   time.Time // this attempt
	end     time.Time // when the task's time is over; zero: never
	tools   []tool    // without finish
	voice   *voice
}

func newRun(ctx context.Context, h *Handler, c handlers.Call, p Payload) *run {
	r := &run{Handler: h, call: c, payload: p, state: load(c.Checkpoint), began: time.Now()}
	r.resumed = len(r.state.Steps)
	r.end, _ = ctx.Deadline()
	r.tools = r.toolbox()
	r.voice = &voice{progress: c.Progress, state: r.state}
	if c.Attempt > 1 {
		r.state.Told = true // by an attempt whose last word may not have been saved
	}
	return r
}

// converse goes on until there is an answer.
func (r *run) converse(ctx context.Context) (answer, error) {
	if err := r.call.Progress.Stage(stageSending); err != nil {
		return answer{}, err
	}
	for {
		a, err := r.act(ctx)
		if err != nil {
			return answer{}, err
		}
		if a != nil {
			return *a, nil
		}
		if err := r.ask(ctx); err != nil {
			if a, ok := r.unmended(ctx, err); ok {
				return a, nil
			}
			return answer{}, err
		}
	}
}

// unmended is the answer that was to be mended, when there are no tokens left to do it.
func (r *run) unmended(ctx context.Context, err error) (answer, bool) {
	if failure, ok := errors.AsType[*taskerr.Error](err); !ok || failure.Code != upper(r.kind)+tokensSpent {
		return answer{}, false
	}
	a, err := r.draft(ctx)
	if a == nil || err != nil {
		return answer{}, false
	}
	a.ended = endTokens
	return *a, true
}

// maxCalls is how many calls of one answer are made.
const maxCalls = 8

// act does what the model's last answer asks for. nil: the model has to be asked again.
func (r *run) act(ctx context.Context) (*answer, error) {
	last, answered := r.state.last()
	switch {
	case last == nil:
		return nil, nil
	case last.End == llm.Refused:
		return r.refusal(last.Text)
	case r.kind == task.AI:
		return r.accept(ctx, r.spoken(*last))
	case len(last.Calls) == 0:
		return r.spokenInstead(ctx, *last)
	}
	calls := last.Calls // last may move
	if forced := r.state.Ended != "" || r.state.Mending != ""; forced && !slices.ContainsFunc(calls, isFinish) {
		return r.insist(ctx, calls)
	}
	made, repeated := 0, 0
	for i, call := range calls {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if answered[call.ID] {
			continue
		}
		if isFinish(call) {
			a, err := r.finish(ctx, call)
			if a != nil || err != nil {
				return a, err
			}
			continue
		}
		made++
		again, err := r.use(ctx, call, i)
		if err != nil {
			return nil, err
		}
		if again {
			repeated++
		}
	}
	r.notice(made, repeated)
	return nil, nil
}

func isFinish(c llm.ToolCall) bool { return c.Name == finishName }

// insist is for a service that does not force a tool: one more answer is asked for, and no other tool is used. When
// there was one to be mended, that one has to do.
func (r *run) insist(ctx context.Context, calls []llm.ToolCall) (*answer, error) {
	if r.state.Mending != "" {
		if a, err := r.draft(ctx); a != nil || err != nil {
			return a, err
		}
		return nil, &taskerr.Error{
			Class: taskerr.ValidationError, Code: upper(r.kind) + "_UNFINISHED",
			Message: "the model goes on calling tools although it was told to finish; it may not know how to use " +
				"tools: choose another in OPENAI_CHAT_MODEL",
		}
	}
	r.state.Mending = "form"
	for _, c := range calls {
		text := "(not done: only " + finishName + " can be called now. Call it with what you know.)"
		r.state.Turns = append(r.state.Turns, turn{Role: llm.ToolTurn, Call: c.ID, Tool: c.Name, Text: text})
		r.state.use(toolUse{
			Name: clip(c.Name, 64), Arguments: clip(c.Arguments, 300), Bytes: len(text), Problem: "not " + finishName,
		})
	}
	return nil, nil
}

// refusal is the answer of a model that will not. It conforms to no schema.
func (r *run) refusal(text string) (*answer, error) {
	if r.payload.shape != nil {
		return nil, &taskerr.Error{
			Class: taskerr.ValidationError, Code: upper(r.kind) + "_REFUSED",
			Message: "the model refuses to answer, which response_schema has no room for",
		}
	}
	return &answer{value: quoted(text), refused: true, ended: endAnswered}, nil
}

// notice ends a run that goes in circles: three answers in a row that asked for nothing new.
func (r *run) notice(made, repeated int) {
	if made == 0 || repeated < made {
		return
	}
	circles := 0
	for i := len(r.state.Steps) - 1; i >= 0 && circles < 3; i-- {
		for _, u := range r.state.Steps[i].Tools {
			if u.Problem != problemRepeated {
				return
			}
		}
		circles++
	}
	if circles >= 3 && r.state.Ended == "" {
		r.state.Ended = endRepeating
	}
}

// spokenInstead is for an answer that calls nothing: it is asked once to finish in form. One that says it in words
// again is taken by its word, which then rests on nothing.
func (r *run) spokenInstead(ctx context.Context, last turn) (*answer, error) {
	if r.state.Mending == "" {
		r.state.Mending = "form"
		r.reply("Call " + finishName + " now with this answer, and with the passages that it rests on as citations.")
		return nil, nil
	}
	said := r.spoken(last)
	said.ended = endUnfinished
	return r.accept(ctx, said)
}

// reply is a word of ours, as the user's.
func (r *run) reply(text string) {
	r.state.Turns = append(r.state.Turns, turn{Role: llm.User, Text: text})
}

// why says why the next answer has to be the last, and so finish is forced; empty: it has not.
func (r *run) why(prompt int) string {
	left := time.Until(r.end)
	switch most := r.deps.MaxTokens; {
	case r.state.Ended != "":
		return r.state.Ended
	case r.state.counted()+1 >= *r.payload.MaxSteps:
		return endSteps
	case most > 0 && r.used()+2*(prompt+answerTokens) > most:
		return endTokens
	case !r.end.IsZero() && left < min(time.Minute, r.end.Sub(r.began)/5):
		return endTime
	}
	return ""
}

func (r *run) used() int { return r.state.PromptTokens + r.state.CompletionTokens }

// ask asks the model once, and returns when its answer is in the store. Between the model's last word and that, a
// crash makes the next attempt pay for the same answer again; nothing else does.
func (r *run) ask(ctx context.Context) error {
	q, err := r.question()
	if err != nil {
		return err
	}
	r.voice.step(r.payload.shape == nil)
	a, err := r.deps.Chat.Ask(ctx, q)
	for range 2 {
		window, long := llm.IsTooLong(err)
		if !long {
			break
		}
		if q, err = r.smaller(window); err != nil {
			return err
		}
		a, err = r.deps.Chat.Ask(ctx, q)
	}
	if err != nil {
		return fmt.Errorf("ask the model: %w", err)
	}
	r.state.PromptTokens += a.PromptTokens
	r.state.CompletionTokens += a.CompletionTokens
	made := step{PromptTokens: a.PromptTokens, CompletionTokens: a.CompletionTokens, Forced: r.state.Ended}
	if r.state.Mending != "" {
		made.Forced = repair
	}
	r.state.Steps = append(r.state.Steps, made)
	if a.End == llm.Filtered {
		return &taskerr.Error{
			Class: taskerr.ValidationError, Code: upper(r.kind) + "_CONTENT_FILTERED",
			Message: "the model service's content filter refused the question, what was read for it, or the answer",
		}
	}
	r.state.Turns = append(r.state.Turns, turn{
		Role: llm.Assistant, Text: a.Text, Calls: r.distinct(a.Calls), End: a.End,
	})
	r.call.Progress.Checkpoint(r.state)
	r.progress(a)
	return r.call.Progress.Save(ctx)
}

// distinct gives calls whose ids the service made twice others.
func (r *run) distinct(calls []llm.ToolCall) []llm.ToolCall {
	seen := map[string]bool{}
	for i := range calls {
		if calls[i].ID == "" || seen[calls[i].ID] {
			calls[i].ID = fmt.Sprintf("call_%d_%d", len(r.state.Steps), i+1)
		}
		seen[calls[i].ID] = true
	}
	return calls
}

// progress tells which step was made. How many there will be nobody knows: each covers a part of the way that is left.
func (r *run) progress(a llm.Answer) {
	n := len(r.state.Steps)
	var names []string
	for _, c := range a.Calls {
		if _, known := r.tool(c.Name); known || c.Name == finishName {
			names = append(names, c.Name)
		}
	}
	what := "an answer"
	if len(names) > 0 {
		what = strings.Join(names, ", ")
	}
	r.voice.arrive()
	r.call.Progress.Report(1-math.Pow(0.75, float64(n)), fmt.Sprintf("step %d: %s", n, what))
}

// quoted is a text as JSON.
func quoted(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("a string can't be written as JSON: " + err.Error())
	}
	return raw
}

func upper(t task.Type) string { return strings.ToUpper(string(t)) }

// plural is e.g. "1 message", "2 messages".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
