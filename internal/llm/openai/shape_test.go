package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// canned is a service that gives the same answer to every request.
type canned struct {
	kind, body string
	requests   int
}

func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests++
	header := http.Header{}
	if c.kind != "" {
		header.Set("Content-Type", c.kind)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Header: header, Body: io.NopCloser(strings.NewReader(c.body)),
		Request: r,
	}, nil
}

func cannedChat(t *testing.T, c *canned) *Chat {
	t.Helper()
	chat, err := NewChat(Config{
		BaseURL: "http://model.example/v1", APIKey: "k", Model: "m", HTTPClient: &http.Client{Transport: c},
	})
	if err != nil {
		t.Fatal(err)
	}
	chat.limiter.sleep = func(context.Context, time.Duration) error { return nil }
	return chat
}

const (
	wholeText  = `{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Fog."},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}`
	wholeCalls = `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"search","arguments":"{\"query\":\"fog\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}`
	piece      = `{"choices":[{"index":0,"delta":{"content":"Fog."}}]}`
	last       = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}`
)

// The first request for a stream succeeds if the answer comes in one piece, with any line ends and comments, without
// [DONE], or under another Content-Type.
func TestAnswersToAStream(t *testing.T) {
	t.Parallel()
	for name, service := range map[string]canned{
		"one piece":              {kind: "application/json", body: wholeText},
		"with a charset":         {kind: "application/json; charset=utf-8", body: wholeText},
		"without a Content-Type": {body: wholeText},
		"as plain text":          {kind: "text/plain", body: "\n  " + wholeText},
		"behind spaces":          {kind: "application/json", body: strings.Repeat(" \r\n", 50_000) + wholeText},
		"a null error beside it": {
			kind: "application/json",
			body: strings.Replace(wholeText, "{", `{"error":null,`, 1),
		},
		"a stream as plain text": {kind: "text/plain", body: "data: " + piece + "\n\ndata: " + last +
			"\n\ndata: [DONE]\n\n"},
		"a stream without a type": {body: ": hello\n\ndata: " + piece + "\n\ndata: " + last + "\n\n"},
		"without [DONE]":          {kind: "text/event-stream", body: "data: " + piece + "\n\ndata: " + last + "\n\n"},
		"without a last line end": {kind: "text/event-stream", body: "data: " + piece + "\n\ndata: " + last},
		"CRLF": {
			kind: "text/event-stream",
			body: "data: " + piece + "\r\n\r\ndata: " + last + "\r\n\r\ndata: [DONE]\r\n\r\n",
		},
		"heartbeats": {kind: "text/event-stream", body: strings.Repeat(": PROCESSING\n\n", 500) +
			"event: x\nid: 7\nretry: 5\ndata:" + piece + "\n\n:\n\ndata:" + last + "\n\ndata:[DONE]\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cannedChat(t, &service)
			var l listener
			a, err := c.Ask(t.Context(), llm.Question{Text: "What comes on cat feet?", Stream: l.stream})
			if err != nil || a.Text != "Fog." || a.End != llm.Stopped || a.PromptTokens != 7 ||
				a.CompletionTokens != 2 {
				t.Errorf("%+v, %v", a, err)
			}
			if l.received != "Fog." || l.pieces != 1 || l.restarts != 0 || service.requests != 1 {
				t.Errorf("received %+v in %d requests", l, service.requests)
			}
		})
	}
	service := canned{kind: "application/json", body: wholeCalls}
	var received string
	a, err := cannedChat(t, &service).Ask(t.Context(), llm.Question{
		Text: "Where?", Tools: []llm.Tool{searchTool}, Stream: func(string, bool) {},
		StreamCall: func(tool, piece string) { received += tool + piece },
	})
	if err != nil || a.End != llm.Called || len(a.Calls) != 1 || a.Calls[0].ID != "a" ||
		received != `search{"query":"fog"}` || service.requests != 1 {
		t.Errorf("calls: %+v, %v; received %q in %d requests", a, err, received, service.requests)
	}
}

// An error with status 200 has the same class as with an error status.
func TestErrorsWithAGoodStatus(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body  string
		class taskerr.Class
	}{
		"no quota": {
			`{"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}`,
			taskerr.QuotaExceeded,
		},
		"a limit":    {`{"error":{"message":"m","code":429}}`, taskerr.AIRateLimit},
		"overloaded": {`{"error":{"message":"m","code":503},"user_id":"u"}`, taskerr.ModelOverloaded},
		"refused": {
			`{"object":"error","message":"m","type":"BadRequestError","code":400}`,
			taskerr.ValidationError,
		},
		"a text":       {`{"error":"model not loaded"}`, taskerr.DependencyUnavailable},
		"no choices":   {`{"error":{"message":"m","code":429},"choices":[]}`, taskerr.AIRateLimit},
		"nothing":      {``, taskerr.DependencyUnavailable},
		"another form": {`{"hello":"world"}`, taskerr.DependencyUnavailable},
		"truncated":    {wholeText[:80], taskerr.DependencyUnavailable},
		"a page":       {`<html>`, taskerr.DependencyUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, stream := range []func(string, bool){nil, func(string, bool) {}} {
				service := canned{kind: "application/json", body: tt.body}
				a, err := cannedChat(t, &service).Ask(t.Context(), llm.Question{Text: "A poem?", Stream: stream})
				if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != tt.class ||
					strings.Contains(err.Error(), "not loaded") {
					t.Errorf("streamed %t: %+v, %v, want %s", stream != nil, a, err, tt.class)
				}
			}
		})
	}
}
