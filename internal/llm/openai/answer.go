package openai

import (
	"fmt"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// answerOf converts a service's answer. The arguments of calls are as the model wrote them.
func answerOf(text, refusal string, calls []api.ToolCall, finish api.FinishReason) llm.Answer {
	a := llm.Answer{Text: text, End: llm.Stopped}
	for i, c := range calls {
		if c.ID == "" { // some services have one call at a time, without ids
			c.ID = fmt.Sprintf("call_%d", i+1)
		}
		a.Calls = append(a.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	switch {
	case finish == api.FinishReasonContentFilter:
		a.End = llm.Filtered
	case refusal != "":
		a.Text, a.End = strings.TrimSpace(refusal), llm.Refused
	case finish == api.FinishReasonLength:
		a.End = llm.CutOff
	case len(a.Calls) > 0: // a forced call ends with "stop"
		a.End = llm.Called
	}
	return a
}

// fence is a block of Markdown around a whole answer.
var fence = pattern.New("(?s)^\\s*```(?:json)?[ \\t]*\\n(.*?)\\n?```\\s*$")

// unfenced removes the Markdown block that models like to put around JSON.
func unfenced(text string) string {
	if m := fence.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return text
}
