package llmtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// imageTokens is what an image costs.
const imageTokens = 765

// Reply is what the model says. It is cut off at the tokens requested.
type Reply struct {
	Text    string
	Calls   []llm.ToolCall // an empty ID is replaced by a generated one
	Refusal string
	Finish  string // finish_reason; empty: "stop", "tool_calls" or "length"
	None    bool   // the answer has no choices
	NoUsage bool   // the answer has no usage

	Pieces []string        // of Text in a stream; nil: its words
	Before func(piece int) // called before each piece of a stream is sent, and before the end
}

// chat answers one request.
func (s *Server) chat(w http.ResponseWriter, r *http.Request, authorized bool, deployment string) {
	request, err := decodeChat(r)
	if deployment != "" {
		request.Model = deployment
	}
	prompt := s.tokens.Count(request.Text) + imageTokens*len(request.Images)
	fault, header := s.begin(
		Request{
			Path: r.URL.RequestURI(), Model: request.Model, Header: r.Header.Clone(), Chat: &request,
		}, max(prompt, request.MaxTokens),
	)
	defer s.end()
	maps.Copy(w.Header(), header)
	maps.Copy(w.Header(), s.options.Header)
	if s.refuses(w, r, fault, authorized, err) {
		return
	}
	if unknown := s.unknown(request); unknown != "" {
		forbid(w, unknown)
		return
	}
	if refused := s.checkChat(request, prompt); refused != nil {
		refused.write(w)
		return
	}
	c := s.complete(request, prompt)
	c.azure = deployment != ""
	if request.Stream && !s.ignores("stream") {
		s.stream(w, r, c, fault)
		return
	}
	s.whole(w, c, fault)
}

// whole sends an answer in one piece.
func (s *Server) whole(w http.ResponseWriter, c completion, fault Fault) {
	raw, err := json.Marshal(c.body())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", fmt.Sprint(len(raw)))
	if fault.Cut {
		raw = raw[:len(raw)/2]
	}
	_, _ = w.Write(raw) // an error means that the client has gone
}

// completion is an answer before its encoding.
type completion struct {
	request        ChatRequest
	reply          Reply
	prompt, tokens int
	azure          bool
}

// complete makes the model's answer, within the tokens requested.
func (s *Server) complete(r ChatRequest, prompt int) completion {
	reply := Reply{Text: "An answer."}
	if r.Forced != "" {
		reply = Reply{Calls: []llm.ToolCall{{Name: r.Forced, Arguments: "{}"}}, Finish: "stop"}
	}
	if s.options.Reply != nil {
		reply = s.options.Reply(r)
	}
	tokens := s.tokens.Count(reply.Text)
	finish := "stop"
	if len(reply.Calls) > 0 {
		finish = "tool_calls"
	}
	if r.MaxTokens > 0 && tokens > r.MaxTokens {
		for tokens > r.MaxTokens {
			reply.Text = reply.Text[:len(reply.Text)*r.MaxTokens/tokens]
			tokens = s.tokens.Count(reply.Text)
		}
		finish, reply.Pieces = "length", nil
	}
	if reply.Finish == "" {
		reply.Finish = finish
	}
	for i := range reply.Calls {
		tokens += s.tokens.Count(reply.Calls[i].Name + reply.Calls[i].Arguments)
		if reply.Calls[i].ID == "" {
			reply.Calls[i].ID = fmt.Sprintf("call_%d_%d", len(r.Messages), i)
		}
	}
	s.bill(0, prompt+tokens)
	return completion{request: r, reply: reply, prompt: prompt, tokens: tokens}
}

// body encodes the answer.
func (c completion) body() map[string]any {
	message := map[string]any{"role": "assistant", "content": c.reply.Text}
	if c.reply.Refusal != "" {
		message["content"], message["refusal"] = nil, c.reply.Refusal
	}
	if len(c.reply.Calls) > 0 {
		message["tool_calls"] = c.calls(false)
		if c.reply.Text == "" {
			message["content"] = nil
		}
	}
	choice := map[string]any{"index": 0, "message": message, "finish_reason": c.reply.Finish, "logprobs": nil}
	answer := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": c.request.Model,
		"choices": []any{choice},
	}
	if c.reply.None {
		answer["choices"] = []any{}
	}
	if c.azure {
		choice["content_filter_results"] = safe
		answer["prompt_filter_results"] = []any{map[string]any{"prompt_index": 0, "content_filter_results": safe}}
	}
	if !c.reply.NoUsage {
		answer["usage"] = c.usage()
	}
	return answer
}

// safe is the verdict of Azure's filter on harmless text.
var safe = map[string]any{
	"hate":      map[string]any{"filtered": false, "severity": "safe"},
	"self_harm": map[string]any{"filtered": false, "severity": "safe"},
	"sexual":    map[string]any{"filtered": false, "severity": "safe"},
	"violence":  map[string]any{"filtered": false, "severity": "safe"},
}

func (c completion) usage() map[string]int {
	return map[string]int{"prompt_tokens": c.prompt, "completion_tokens": c.tokens, "total_tokens": c.prompt + c.tokens}
}

// calls encodes the tool calls, with an index in a stream.
func (c completion) calls(indexed bool) []map[string]any {
	var calls []map[string]any
	for i, call := range c.reply.Calls {
		one := map[string]any{
			"id": call.ID, "type": "function",
			"function": map[string]any{"name": call.Name, "arguments": call.Arguments},
		}
		if indexed {
			one["index"] = i
		}
		calls = append(calls, one)
	}
	return calls
}

// pieces splits the text for a stream: by words, unless the reply has Pieces.
func (r Reply) pieces() []string {
	if r.Pieces != nil || r.Text == "" {
		return r.Pieces
	}
	return strings.SplitAfter(r.Text, " ")
}
