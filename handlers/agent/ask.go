package agent

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// why returns why the next answer must be the last, so that finish is forced; empty: it need not be.
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

// ask asks the model once and returns when its answer is stored. Only a crash between the two makes the next attempt
// pay for the same answer again.
func (r *run) ask(ctx context.Context) error {
	q, err := r.question()
	if err != nil {
		return err
	}
	r.stream.step(r.payload.shape == nil)
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
	if r.state.Correcting != "" {
		made.Forced = repair
	}
	r.state.Steps = append(r.state.Steps, made)
	if a.End == llm.Filtered {
		return &taskerr.Error{
			Class: taskerr.ValidationError, Code: upper(r.kind) + "_CONTENT_FILTERED",
			Message: "the model service's content filter refused the question, the passages read for it, or the answer",
			Hint:    "ask in other words, or let the content filter of the model's service allow more",
		}
	}
	r.state.Turns = append(r.state.Turns, turn{
		Role: llm.Assistant, Text: a.Text, Calls: r.distinct(a.Calls), End: a.End,
	})
	r.call.Progress.Checkpoint(r.state)
	r.progress(a)
	return r.call.Progress.Save(ctx)
}

// distinct replaces ids that the service gave to two calls.
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

// progress reports a step. Their number is not known in advance: each covers a fraction of the remaining way.
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
	r.stream.enterStage()
	r.call.Progress.Report(1-math.Pow(0.75, float64(n)), fmt.Sprintf("step %d: %s", n, what))
}
