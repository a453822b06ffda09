package openai

import (
	"cmp"
	"encoding/base64"
	"math"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

const (
	// imageTokens is about what a page's image costs, for the limiter; the service reports the real cost.
	imageTokens = 1500
	// turnTokens frame each message. Source: OpenAI's cookbook, "How to count tokens with tiktoken".
	turnTokens = 3
	// nothing replaces an empty content: the client library omits empty ones, which services reject.
	nothing = "(empty)"
)

// request is the question on the wire, in a dialect that the service supports.
func (c *Chat) request(q llm.Question, d dialect) api.ChatCompletionRequest {
	r := api.ChatCompletionRequest{Model: c.model, Messages: messages(q, d)}
	if !d.noTemperature {
		// The library leaves out a zero, and the service would take 1.
		r.Temperature = max(float32(q.Temperature), math.SmallestNonzeroFloat32)
	}
	limit := q.MaxTokens
	if d.mostTokens > 0 {
		limit = min(limit, d.mostTokens)
	}
	if d.completionTokens {
		r.MaxCompletionTokens = limit
	} else {
		r.MaxTokens = limit //nolint:staticcheck // servers other than OpenAI's know this one only
	}
	if d.noReasoning {
		r.ReasoningEffort = api.ReasoningEffortNone
	}
	r.Tools, r.ToolChoice = tools(q, d)
	r.ResponseFormat = format(q.Schema, d)
	if q.Stream != nil && !d.noStream && !d.noUsage {
		r.StreamOptions = &api.StreamOptions{IncludeUsage: true}
	}
	return r
}

func messages(q llm.Question, d dialect) []api.ChatCompletionMessage {
	var all []api.ChatCompletionMessage
	system := q.System
	if q.Schema != nil && d.promptsSchema() {
		if system != "" {
			system += "\n\n"
		}
		system += "Answer with one JSON object and nothing else. It must conform to this JSON Schema:\n" +
			string(q.Schema.Schema)
	}
	if system != "" {
		all = append(all, api.ChatCompletionMessage{Role: api.ChatMessageRoleSystem, Content: system})
	}
	for _, t := range q.Turns {
		all = append(all, message(t))
	}
	switch {
	case len(q.Images) > 0:
		all = append(all, api.ChatCompletionMessage{Role: api.ChatMessageRoleUser, MultiContent: parts(q)})
	case q.Text != "" || len(q.Turns) == 0:
		all = append(all, api.ChatCompletionMessage{Role: api.ChatMessageRoleUser, Content: cmp.Or(q.Text, nothing)})
	}
	return all
}

func message(t llm.Turn) api.ChatCompletionMessage {
	m := api.ChatCompletionMessage{Role: string(t.Role), Content: t.Text, ToolCallID: t.Call}
	for _, c := range t.Calls {
		m.ToolCalls = append(m.ToolCalls, api.ToolCall{
			ID: c.ID, Type: api.ToolTypeFunction, Function: api.FunctionCall{
				Name: c.Name, Arguments: cmp.Or(c.Arguments, "{}"),
			},
		})
	}
	if len(m.ToolCalls) == 0 {
		m.Content = cmp.Or(m.Content, nothing)
	}
	return m
}

func parts(q llm.Question) []api.ChatMessagePart {
	var all []api.ChatMessagePart
	if q.Text != "" {
		all = append(all, api.ChatMessagePart{Type: api.ChatMessagePartTypeText, Text: q.Text})
	}
	for _, img := range q.Images {
		all = append(all, api.ChatMessagePart{Type: api.ChatMessagePartTypeImageURL, ImageURL: &api.ChatMessageImageURL{
			URL:    "data:" + img.MediaType + ";base64," + base64.StdEncoding.EncodeToString(img.Data),
			Detail: api.ImageURLDetailHigh,
		}})
	}
	return all
}

// tools returns the tools of the question, and which of them must be called. If the service can't force a tool by
// name, it gets that one only.
func tools(q llm.Question, d dialect) (offered []api.Tool, choice any) {
	for _, t := range q.Tools {
		if q.Force != "" && q.Force != t.Name && d.force != forceByName {
			continue
		}
		offered = append(offered, api.Tool{Type: api.ToolTypeFunction, Function: &api.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: t.Parameters, Strict: t.Strict && !d.noStrict,
		}})
	}
	switch {
	case q.Force == "" || d.force == forceByOffer:
		return offered, nil
	case d.force == forceByRequired:
		return offered, "required"
	}
	return offered, api.ToolChoice{Type: api.ToolTypeFunction, Function: api.ToolFunction{Name: q.Force}}
}

func format(s *llm.Schema, d dialect) *api.ChatCompletionResponseFormat {
	switch {
	case s == nil || d.schema == schemaInPrompt:
		return nil
	case d.schema == schemaAsObject:
		return &api.ChatCompletionResponseFormat{Type: api.ChatCompletionResponseFormatTypeJSONObject}
	}
	return &api.ChatCompletionResponseFormat{
		Type: api.ChatCompletionResponseFormatTypeJSONSchema,
		JSONSchema: &api.ChatCompletionResponseFormatJSONSchema{
			Name: s.Name, Schema: s.Schema, Strict: s.Strict && !d.noStrict,
		},
	}
}

// eachText visits all text that a model reads of a question, without images.
func eachText(q llm.Question, visit func(string)) {
	visit(q.System)
	for _, t := range q.Turns {
		visit(t.Text)
		for _, c := range t.Calls {
			visit(c.Name)
			visit(c.Arguments)
		}
	}
	visit(q.Text)
	for _, t := range q.Tools {
		visit(t.Name)
		visit(t.Description)
		visit(string(t.Parameters))
	}
	if q.Schema != nil {
		visit(string(q.Schema.Schema))
	}
}

// guess estimates the tokens that a question takes from the service's budget, as OpenAI does ("Rate limits"): by its
// characters or by the longest answer, whichever is more.
func guess(q llm.Question) int {
	bytes := 0
	eachText(q, func(s string) { bytes += len(s) })
	return max(bytes/4+imageTokens*len(q.Images), q.MaxTokens)
}

// count returns the number of tokens of a question.
func count(q llm.Question, counter llm.Counter) int {
	total := imageTokens*len(q.Images) + turnTokens*(len(q.Turns)+2)
	eachText(q, func(s string) { total += counter.Count(s) })
	return total
}
