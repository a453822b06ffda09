package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const closed = `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}`

var (
	searchTool = llm.Tool{Name: "search", Description: "Finds.", Parameters: json.RawMessage(closed), Strict: true}
	finishTool = llm.Tool{Name: "finish", Parameters: json.RawMessage(`{"type":"object"}`)}
	answerForm = &llm.Schema{Name: "answer", Schema: json.RawMessage(closed), Strict: true}
)

// conversation has a turn of each kind, and empty results.
func conversation() llm.Question {
	return llm.Question{
		System: "You search.", Text: "And now?",
		Turns: []llm.Turn{
			{Role: llm.User, Text: "Where is the fog?"},
			{Role: llm.Assistant, Calls: []llm.ToolCall{
				{ID: "a", Name: "search", Arguments: `{"query":"fog"}`},
				{ID: "b", Name: "search"},
			}},
			{Role: llm.ToolTurn, Call: "a", Text: "found"},
			{Role: llm.ToolTurn, Call: "b"},
			{Role: llm.Assistant, Text: ""},
		},
		Tools: []llm.Tool{searchTool, finishTool}, Force: "finish", Schema: answerForm, MaxTokens: 100,
	}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	c, _ := openChat(t, s, nil)
	a, err := c.Ask(t.Context(), conversation())
	if err != nil || a.End != llm.Called || len(a.Calls) != 1 || a.Calls[0].Name != "finish" || a.Calls[0].ID == "" {
		t.Fatalf("%+v %v", a, err)
	}
	got := s.Received()[0].Chat
	var roles []string
	for _, m := range got.Messages {
		roles = append(roles, m.Role)
	}
	if want := []string{"system", "user", "assistant", "tool", "tool", "assistant", "user"}; !slices.Equal(roles,
		want) {
		t.Errorf("messages of %v, want %v", roles, want)
	}
	// The client library omits an empty content, and a service rejects a message without one.
	if got.Messages[3].Text != "found" || got.Messages[3].Call != "a" || got.Messages[4].Text == "" ||
		got.Messages[5].Text == "" || got.Last().Text != "And now?" {
		t.Errorf("asked %+v", got.Messages)
	}
	if calls := got.Messages[2].Calls; len(calls) != 2 || calls[0].Arguments != `{"query":"fog"}` ||
		calls[1].Arguments != "{}" {
		t.Errorf("calls %+v", calls)
	}
	search := got.Find("search")
	if search == nil || !search.Strict || string(search.Parameters) != closed || search.Description != "Finds." ||
		got.Forced != "finish" {
		t.Errorf("tools %+v, forced %q", got.Tools, got.Forced)
	}
	if got.Schema == nil || !got.Schema.Strict || got.Schema.Name != "answer" || string(got.Schema.Schema) != closed ||
		got.Stream || got.Usage {
		t.Errorf("schema %+v", got.Schema)
	}
}

// Without a text, a conversation consists of its turns.
func TestConversationOfTurns(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	c, _ := openChat(t, s, nil)
	if _, err := c.Ask(t.Context(), llm.Question{Turns: []llm.Turn{{Role: llm.User, Text: "Hello."}}}); err != nil {
		t.Fatal(err)
	}
	if got := s.Received()[0].Chat; len(got.Messages) != 1 || got.Text != "Hello." || got.Choice != "" ||
		got.MaxTokens != 0 {
		t.Errorf("asked %+v", got)
	}
}

// A request omits or rewrites what the service rejects, and the next question doesn't try it again.
func TestDialects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options  llmtest.Options
		requests int // for the first question; zero: depends on which rejection comes first
		check    func(*llmtest.ChatRequest) bool
	}{
		"strict": {
			llmtest.Options{Unknown: []string{"strict"}},
			2,
			func(r *llmtest.ChatRequest) bool { return !r.Tools[0].Strict && !r.Schema.Strict },
		},
		"stream_options": {
			llmtest.Options{Unknown: []string{"stream_options"}},
			2,
			func(r *llmtest.ChatRequest) bool { return r.Stream && !r.Usage },
		},
		// the service answers in one piece
		"stream": {
			llmtest.Options{Unknown: []string{"stream"}},
			1,
			func(r *llmtest.ChatRequest) bool { return r.Stream },
		},
		"temperature": {
			llmtest.Options{Unknown: []string{"temperature"}},
			2,
			func(r *llmtest.ChatRequest) bool { return r.Temperature == nil },
		},
		"tool_choice": {llmtest.Options{Unknown: []string{"tool_choice"}}, 3, func(r *llmtest.ChatRequest) bool {
			return r.Choice == "" && len(r.Tools) == 1 && r.Tools[0].Name == "finish"
		}},
		"response_format": {
			llmtest.Options{Unknown: []string{"response_format"}},
			3,
			func(r *llmtest.ChatRequest) bool {
				return r.Format == "" && strings.Contains(r.System(), closed)
			},
		},
		"reasoning": {
			llmtest.Options{Reasoning: true},
			3,
			func(r *llmtest.ChatRequest) bool { return r.Completion && r.Temperature == nil },
		},
		"many": {llmtest.Options{
			Reasoning: true,
			Unknown: []string{
				"strict", "stream_options", "response_format", "tool_choice",
			},
		}, 0, func(r *llmtest.ChatRequest) bool {
			return r.Completion && !r.Tools[0].Strict && !r.Usage
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t, tt.options)
			c, _ := openChat(t, s, nil)
			first := 0
			for round := range 2 {
				var l listener
				q := conversation()
				q.Stream = l.stream
				a, err := c.Ask(t.Context(), q)
				if err != nil || a.PromptTokens == 0 || a.Text != l.received {
					t.Fatalf("%+v %v; received %q", a, err, l.received)
				}
				if round == 0 {
					first = cmp.Or(tt.requests, s.Requests())
				}
				if want := first + round; s.Requests() != want {
					t.Fatalf("%d requests, want %d", s.Requests(), want)
				}
				requests := s.Received()
				if last := requests[len(requests)-1].Chat; !tt.check(last) {
					t.Errorf("asked %s", last.Raw)
				}
			}
		})
	}
}

func TestModelWithoutTools(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{Unknown: []string{"tools"}})
	c, _ := openChat(t, s, nil)
	_, err := c.Ask(t.Context(), conversation())
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.DependencyUnavailable ||
		!strings.Contains(e.Message, "does not support tools; check OCR_MODEL") || s.Requests() != 1 {
		t.Errorf("%v after %d requests", err, s.Requests())
	}
}

// A schema outside the enforceable subset is put into the prompt. The next question's schema is enforced again.
func TestSchemaThatCantBeEnforced(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	c, _ := openChat(t, s, nil)
	open := &llm.Schema{
		Name: "theirs", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`), Strict: true,
	}
	list := &llm.Schema{
		Name: "theirs", Schema: json.RawMessage(`{"type":"array","items":{"type":"string"}}`), Strict: true,
	}
	for _, tt := range []struct {
		schema   *llm.Schema
		requests int
		format   string
		strict   bool
	}{{open, 2, "json_schema", false}, {answerForm, 1, "json_schema", true}, {list, 3, "json_object", false}} {
		before := s.Requests()
		if _, err := c.Ask(t.Context(), llm.Question{Text: "Hello.", Schema: tt.schema}); err != nil {
			t.Fatal(err)
		}
		got := s.Received()[s.Requests()-1].Chat
		if n := s.Requests() - before; n != tt.requests || got.Format != tt.format ||
			(got.Schema != nil && got.Schema.Strict) != tt.strict {
			t.Errorf("%s: %d requests, then %s", tt.schema.Schema, n, got.Raw)
		}
	}
}

// JSON that the prompt requests may arrive in a block of Markdown.
func TestUnfenced(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"```json\n{\"a\":1}\n```":     `{"a":1}`,
		" ```\n{\"a\":1}```\n":        `{"a":1}`,
		`{"a":1}`:                     `{"a":1}`,
		"Here: ```json\n{\"a\":1}```": "Here: ```json\n{\"a\":1}```",
	} {
		if got := unfenced(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestTooLong(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault  llmtest.Fault
		window int
		ok     bool
	}{
		"OpenAI": {llmtest.TooLong, 8192, true},
		"llama.cpp": {llmtest.Fault{
			Status:  400,
			Message: "the request exceeds the available context size (4096 tokens), try increasing it",
		}, 4096, true},
		"more than a limit": {llmtest.Fault{
			Status: 429, Code: "rate_limit_exceeded",
			Message: "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, " +
				"Requested 30601.",
		}, 30000, true},
		"a large body":    {llmtest.Fault{Status: 413}, 0, true},
		"another refusal": {llmtest.Fault{Status: 400, Message: "no"}, 0, false},
	} {
		s := llmtest.New(t, llmtest.Options{})
		s.Script(tt.fault)
		c, _ := openChat(t, s, nil)
		_, err := c.Ask(t.Context(), llm.Question{Text: "Hello."})
		window, ok := llm.IsTooLong(err)
		if e, is := errors.AsType[*taskerr.Error](err); !is || e.Class != taskerr.ValidationError || ok != tt.ok ||
			window != tt.window || s.Requests() != 1 {
			t.Errorf("%s: %v (%d, %v) after %d requests", name, err, window, ok, s.Requests())
		}
	}
	s := llmtest.New(t, llmtest.Options{Window: 100})
	c, _ := openChat(t, s, nil)
	_, err := c.Ask(t.Context(), llm.Question{Text: strings.Repeat("word ", 200)})
	if window, ok := llm.IsTooLong(err); !ok || window != 100 {
		t.Errorf("%v", err)
	}
}

func TestMostTokens(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	s.Script(llmtest.Fault{
		Status: 400, Param: "max_tokens",
		Message: "max_tokens is too large: 9000. This model supports at most 4096 completion tokens.",
	})
	c, _ := openChat(t, s, nil)
	if _, err := c.Ask(t.Context(), llm.Question{Text: "Hello.", MaxTokens: 9000}); err != nil ||
		s.Received()[1].Chat.MaxTokens != 4096 {
		t.Errorf("%v; asked for %d", err, s.Received()[1].Chat.MaxTokens)
	}
}

func TestAnswerWithoutUsage(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{Reply: func(
		llmtest.ChatRequest,
	) llmtest.Reply {
		return llmtest.Reply{Text: poem, NoUsage: true}
	}})
	c, _ := openChat(t, s, nil)
	for _, stream := range []func(string, bool){nil, func(string, bool) {}} {
		a, err := c.Ask(t.Context(), llm.Question{System: "Be short.", Text: "A poem?", Stream: stream})
		if err != nil || a.PromptTokens < 6 || a.PromptTokens > 20 || a.CompletionTokens < 7 ||
			a.CompletionTokens > 12 {
			t.Errorf("%+v %v", a, err)
		}
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]int{
		"gpt-4o-mini": 128_000, "gpt-4": 8_192, "gpt-4-0613": 8_192, "gpt-4-32k-0613": 32_768,
		"gpt-4.1-mini": 1_047_576, "o1-mini": 128_000, "o1": 200_000,
		"gpt-5-chat-latest": 128_000, "gpt-5": 400_000, "gpt-35-turbo": 16_385, "openai/gpt-4.1": 1_047_576,
		"ft:gpt-4o:us": 128_000, "llama3": DefaultWindow, "": DefaultWindow,
	} {
		if got := Window(model); got != want {
			t.Errorf("%q: %d, want %d", model, got, want)
		}
	}
}
