package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// unknown is a parameter of the request that the service doesn't know; empty: none.
func (s *Server) unknown(r ChatRequest) string {
	strict := r.Schema != nil && r.Schema.Strict
	for _, t := range r.Tools {
		strict = strict || t.Strict
	}
	for param, sent := range map[string]bool{
		"stream_options": r.Usage, "temperature": r.Temperature != nil, "tools": len(r.Tools) > 0,
		"tool_choice": r.Choice != "",
		"strict":      strict, "response_format": r.Format != "",
	} {
		if sent && slices.Contains(s.options.Unknown, param) {
			return param
		}
	}
	return ""
}

// ignores reports whether the service ignores a parameter.
func (s *Server) ignores(param string) bool { return slices.Contains(s.options.Unknown, param) }

// forbid refuses a parameter like servers that validate with pydantic (vLLM): everything is in the message.
func forbid(w http.ResponseWriter, param string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"object": "error", "type": "BadRequestError", "param": nil, "code": 400,
		"message": fmt.Sprintf("[{'type': 'extra_forbidden', 'loc': ('body', '%s'), 'msg': 'Extra inputs are not "+
			"permitted'}]", param),
	})
}

// checkChat refuses the requests that the service refuses.
func (s *Server) checkChat(r ChatRequest, prompt int) *Fault {
	bad := func(code, param, format string, args ...any) *Fault {
		return &Fault{Status: http.StatusBadRequest, Code: code, Param: param, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case s.options.Reasoning && r.MaxTokens > 0 && !r.Completion:
		return bad("unsupported_parameter", "max_tokens", "use max_completion_tokens")
	case s.options.Reasoning && r.Temperature != nil && *r.Temperature != 1:
		return bad("unsupported_value", "temperature", "only the default (1) value is supported")
	case s.options.Thinking > 0 && r.MaxTokens > 0 && r.MaxTokens < s.options.Thinking:
		return bad("", "", "Could not finish the message because max_tokens or model output limit was reached. "+
			"Please try again with higher max_tokens.")
	case s.options.Poison != "" && strings.Contains(r.Text, s.options.Poison):
		return bad("content_filter", "prompt", "the response was filtered")
	case s.options.Window > 0 && prompt+r.MaxTokens > s.options.Window:
		return bad("context_length_exceeded", "messages",
			"This model's maximum context length is %d tokens. However, you requested %d tokens.", s.options.Window,
			prompt+r.MaxTokens)
	}
	if f := checkMessages(r, bad); f != nil {
		return f
	}
	return checkTools(r, bad)
}

type refuse func(code, param, format string, args ...any) *Fault

// checkMessages: every message has a content, except those that call tools, and a result follows each call at once.
func checkMessages(r ChatRequest, bad refuse) *Fault {
	var open []string
	for i, m := range r.Messages {
		if m.bare && len(m.Calls) == 0 {
			return bad("", fmt.Sprintf("messages.[%d].content", i), "null is not of type 'string'")
		}
		if m.Role == "tool" {
			if !slices.Contains(open, m.Call) {
				return bad("", fmt.Sprintf("messages.[%d].role", i),
					"a message of the role 'tool' must answer a preceding message with 'tool_calls'")
			}
			open = slices.DeleteFunc(open, func(id string) bool { return id == m.Call })
			continue
		}
		if len(open) > 0 {
			return bad("", fmt.Sprintf("messages.[%d].role", i),
				"'tool_calls' must be followed by messages answering each 'tool_call_id': %v", open)
		}
		for _, c := range m.Calls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return bad("", "messages", "'tool_calls' must be followed by messages answering each 'tool_call_id': %v", open)
	}
	return nil
}

var named = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// checkTools enforces the rules for tools and schemas.
func checkTools(r ChatRequest, bad refuse) *Fault {
	for i, t := range r.Tools {
		param := fmt.Sprintf("tools[%d].function", i)
		if !named.MatchString(t.Name) {
			return bad("invalid_value", param+".name", "Invalid tool name")
		}
		if problem := schemaProblem(t.Parameters, t.Strict); problem != "" {
			return bad("invalid_function_parameters", param+".parameters", "Invalid schema for function '%s': %s",
				t.Name, problem)
		}
	}
	if r.Forced != "" && r.Find(r.Forced) == nil {
		return bad("", "tool_choice", "Tool choice '%s' not found in 'tools' parameter.", r.Forced)
	}
	if r.Choice != "" && len(r.Tools) == 0 {
		return bad("", "tool_choice", "'tool_choice' is only allowed when 'tools' are specified.")
	}
	if r.Format != "json_schema" {
		return nil
	}
	if r.Schema == nil || !named.MatchString(r.Schema.Name) || len(r.Schema.Schema) == 0 {
		return bad("missing_required_parameter", "response_format.json_schema",
			"Missing required parameter: 'response_format.json_schema'.")
	}
	if problem := schemaProblem(r.Schema.Schema, r.Schema.Strict); problem != "" {
		return bad("", "response_format", "Invalid schema for response_format '%s': %s", r.Schema.Name, problem)
	}
	return nil
}

// schemaProblem enforces the rules for a strict schema: every object is closed and requires all its properties.
func schemaProblem(raw json.RawMessage, strict bool) string {
	var top map[string]any
	if err := json.Unmarshal(raw, &top); err != nil {
		return "it is not a JSON object"
	}
	if top["type"] != "object" {
		return "schema must be a JSON Schema of 'type: \"object\"'"
	}
	if !strict {
		return ""
	}
	return strictProblem(top)
}

func strictProblem(node any) string {
	switch n := node.(type) {
	case []any:
		for _, item := range n {
			if problem := strictProblem(item); problem != "" {
				return problem
			}
		}
	case map[string]any:
		if properties, ok := n["properties"].(map[string]any); ok || n["type"] == "object" {
			if n["additionalProperties"] != false {
				return "'additionalProperties' is required to be supplied and to be false."
			}
			required, _ := n["required"].([]any)
			for name := range properties {
				if !slices.Contains(required, any(name)) {
					return fmt.Sprintf("'required' is required to be supplied and to be an array including every "+
						"key in properties. Missing '%s'.", name)
				}
			}
		}
		for _, value := range n {
			if problem := strictProblem(value); problem != "" {
				return problem
			}
		}
	}
	return ""
}
