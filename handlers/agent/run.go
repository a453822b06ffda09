package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// run is one attempt at a task.
type run struct {
	*Handler
	call    handlers.Call
	payload Payload
	state   *state
	resumed int       // steps of earlier attempts
	began   time.Time // this attempt
	end     time.Time // the task's deadline; zero: none
	tools   []tool    // without finish
	stream  *answerStream
}

func newRun(ctx context.Context, h *Handler, c handlers.Call, p Payload) *run {
	r := &run{Handler: h, call: c, payload: p, state: load(c.Checkpoint), began: time.Now()}
	r.resumed = len(r.state.Steps)
	r.end, _ = ctx.Deadline()
	r.tools = r.toolbox()
	r.stream = &answerStream{progress: c.Progress, state: r.state}
	if c.Holder.Fence > 1 { // Attempt repeats: after one that was not counted (I9), and in another series
		r.state.Streamed = true // an earlier attempt may have streamed without saving
	}
	return r
}

// converse asks the model until there is an answer.
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
			if a, ok := r.uncorrected(ctx, err); ok {
				return a, nil
			}
			return answer{}, err
		}
	}
}

// uncorrected returns the answer that should have been corrected, if no tokens are left for that.
func (r *run) uncorrected(ctx context.Context, err error) (answer, bool) {
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

// maxCalls is how many calls of one answer are executed.
const maxCalls = 8

// act executes the model's last answer. nil: the model has to be asked again.
func (r *run) act(ctx context.Context) (*answer, error) {
	last, answered := r.state.last()
	switch {
	case last == nil:
		return nil, nil
	case last.End == llm.Refused:
		return r.refusal(last.Text)
	case r.kind == task.AI:
		return r.accept(ctx, r.textAnswer(*last))
	case len(last.Calls) == 0:
		return r.acceptText(ctx, *last)
	}
	calls := last.Calls // appending turns may move last
	if forced := r.state.Ended != "" || r.state.Correcting != ""; forced && !slices.ContainsFunc(calls, isFinish) {
		return r.insist(ctx, calls)
	}
	made, repeated, refused := 0, 0, false
	for i, call := range calls {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if isFinish(call) {
			if !answered[call.ID] {
				if a, err := r.finish(ctx, call, refused); a != nil || err != nil {
					return a, err
				}
			}
			refused = true
			continue
		}
		if answered[call.ID] {
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

// insist handles a service that does not force a tool: it requests one more answer and executes no other tool. If a
// draft was to be corrected, it returns the draft.
func (r *run) insist(ctx context.Context, calls []llm.ToolCall) (*answer, error) {
	if r.state.Correcting != "" {
		if a, err := r.draft(ctx); a != nil || err != nil {
			return a, err
		}
		return nil, &taskerr.Error{
			Class: taskerr.ValidationError, Code: upper(r.kind) + "_UNFINISHED",
			Message: "the model keeps calling tools although it has to finish; it may not be trained to use " +
				"tools: choose another in OPENAI_CHAT_MODEL",
		}
	}
	r.state.Correcting = "form"
	for _, c := range calls {
		text := "(not done: only " + finishName + " can be called now. Call it with what you know.)"
		r.state.Turns = append(r.state.Turns, turn{Role: llm.ToolTurn, Call: c.ID, Tool: c.Name, Text: text})
		r.state.use(toolUse{
			Name: clip(c.Name, 64), Arguments: clip(c.Arguments, 300), Bytes: len(text), Problem: "not " + finishName,
		})
	}
	return nil, nil
}

// refusal returns the answer of a model that refuses. With a schema it is an error.
func (r *run) refusal(text string) (*answer, error) {
	if r.payload.shape != nil {
		return nil, &taskerr.Error{
			Class: taskerr.ValidationError, Code: upper(r.kind) + "_REFUSED",
			Message: "the model refuses to answer; response_schema has no form for a refusal",
			Hint:    "ask in other words, or give response_schema a form for a refusal",
		}
	}
	return &answer{value: quoted(text), refused: true, ended: endAnswered}, nil
}

// notice ends a run that repeats itself: three answers in a row with known calls only.
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

// acceptText handles an answer without calls: the first time it asks the model to call finish. The second time it
// accepts the text, without citations.
func (r *run) acceptText(ctx context.Context, last turn) (*answer, error) {
	if r.state.Correcting == "" {
		r.state.Correcting = "form"
		r.reply("Call " + finishName + " now with this answer, and with the passages that it rests on as citations.")
		return nil, nil
	}
	text := r.textAnswer(last)
	text.ended = endUnfinished
	return r.accept(ctx, text)
}

// reply adds a message of the user.
func (r *run) reply(text string) {
	r.state.Turns = append(r.state.Turns, turn{Role: llm.User, Text: text})
}

// quoted returns a text as JSON.
func quoted(s string) json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("a string can't be written as JSON: " + err.Error())
	}
	return raw
}

func upper(t task.Type) string { return strings.ToUpper(string(t)) }

// plural returns e.g. "1 message", "2 messages".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
