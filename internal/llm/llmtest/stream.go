package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// stream sends an answer piece by piece, as server-sent events.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, c completion, fault Fault) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	e := events{w: w, model: c.request.Model, usage: c.request.Usage && !c.reply.NoUsage}
	_, _ = fmt.Fprint(w, ": connected\n\n") // a comment, as some services send
	if c.azure {
		e.send(map[string]any{
			"choices": []any{}, "prompt_filter_results": []any{
				map[string]any{"prompt_index": 0, "content_filter_results": safe},
			},
		})
	}
	deltas := c.deltas()
	for i, delta := range deltas {
		if s.strikes(e, r, fault, i) {
			return
		}
		if c.reply.Before != nil {
			c.reply.Before(i)
		}
		e.delta(delta, nil)
	}
	if s.strikes(e, r, fault, len(deltas)) {
		return
	}
	if c.reply.Before != nil {
		c.reply.Before(len(deltas))
	}
	if !fault.Unfinished && !c.reply.None {
		e.delta(map[string]any{}, c.reply.Finish)
	}
	if e.usage {
		e.send(map[string]any{"choices": []any{}, "usage": c.usage()})
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

// deltas are the pieces of an answer.
func (c completion) deltas() []map[string]any {
	if c.reply.None {
		return nil
	}
	var deltas []map[string]any
	for _, piece := range c.reply.pieces() {
		deltas = append(deltas, map[string]any{"content": piece})
	}
	if c.reply.Refusal != "" {
		deltas = append(deltas, map[string]any{"refusal": c.reply.Refusal})
	}
	for i, call := range c.calls(true) {
		function := call["function"].(map[string]any)
		arguments := c.reply.Calls[i].Arguments
		function["arguments"] = "" // sent later, in two pieces
		deltas = append(deltas, map[string]any{"tool_calls": []any{call}})
		for _, part := range []string{arguments[:len(arguments)/2], arguments[len(arguments)/2:]} {
			deltas = append(deltas, map[string]any{
				"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": part}}},
			})
		}
	}
	return deltas
}

// strikes reports whether the fault ended the stream before the piece with the index at.
func (s *Server) strikes(e events, r *http.Request, fault Fault, at int) bool {
	if at != fault.Midway {
		return false
	}
	switch {
	case fault.Hang:
		s.hang(r.Context())
	case fault.Status != 0:
		e.send(fault.problem())
	case fault.Garbled:
		_, _ = fmt.Fprint(e.w, `data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"cont`+"\n\n")
	case fault.Cut:
		panic(http.ErrAbortHandler) // the server closes the connection and logs nothing
	default:
		return false
	}
	return true
}

// events writes the chunks of one stream.
type events struct {
	w     http.ResponseWriter
	model string
	usage bool // every chunk but the last has a null usage
}

func (e events) delta(delta map[string]any, finish any) {
	e.send(map[string]any{
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}},
	})
}

func (e events) send(event any) {
	if chunk, ok := event.(map[string]any); ok {
		chunk["id"], chunk["object"], chunk["created"], chunk["model"] = "chatcmpl-1", "chat.completion.chunk", 1,
			e.model
		if _, told := chunk["usage"]; e.usage && !told {
			chunk["usage"] = nil
		}
	}
	raw, err := json.Marshal(event)
	if err != nil {
		panic(err) // a bug in this package
	}
	_, _ = fmt.Fprintf(e.w, "data: %s\n\n", raw) // an error means that the client has gone
	e.w.(http.Flusher).Flush()
}
