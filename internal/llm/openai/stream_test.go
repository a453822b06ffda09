package openai

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// listener records a stream; a restart clears the record.
type listener struct {
	received string
	pieces   int
	restarts int
}

func (l *listener) stream(piece string, restart bool) {
	if restart {
		l.received, l.restarts = "", l.restarts+1
	}
	if piece != "" {
		l.pieces++
	}
	l.received += piece
}

const poem = "The fog comes on little cat feet."

func TestStream(t *testing.T) {
	t.Parallel()
	for name, azure := range map[string]bool{"OpenAI": false, "Azure": true} {
		s := llmtest.New(t, llmtest.Options{Reply: func(
			llmtest.ChatRequest,
		) llmtest.Reply {
			return llmtest.Reply{Text: poem}
		}})
		c, _ := openChat(t, s, func(c *Config) {
			if azure {
				c.Azure = &Azure{Endpoint: s.AzureURL(), APIKey: llmtest.Key, APIVersion: "2024-10-21"}
			}
		})
		var l listener
		a, err := c.Ask(t.Context(), llm.Question{Text: "A poem?", Stream: l.stream})
		if err != nil || a.Text != poem || a.End != llm.Stopped || l.received != poem || l.pieces < 5 || l.restarts != 0 {
			t.Errorf("%s: %+v %v; received %+v", name, a, err, l)
		}
		if a.PromptTokens+a.CompletionTokens != s.Tokens() || a.CompletionTokens == 0 {
			t.Errorf("%s: %d and %d tokens, billed %d", name, a.PromptTokens, a.CompletionTokens, s.Tokens())
		}
		if got := s.Received()[0].Chat; !got.Stream || !got.Usage {
			t.Errorf("%s: asked %+v", name, got)
		}
	}
}

func TestStreamOfCalls(t *testing.T) {
	t.Parallel()
	calls := []llm.ToolCall{
		{ID: "a", Name: "search", Arguments: `{"query":"fog"}`}, {ID: "b", Name: "search", Arguments: `{"query":"ca`},
	}
	s := llmtest.New(t, llmtest.Options{Reply: func(
		llmtest.ChatRequest,
	) llmtest.Reply {
		return llmtest.Reply{Text: "I look.", Calls: calls}
	}})
	c, _ := openChat(t, s, nil)
	for _, stream := range []func(string, bool){nil, func(string, bool) {}} {
		var received string
		a, err := c.Ask(t.Context(), llm.Question{
			Text: "Where?", Tools: []llm.Tool{searchTool}, Stream: stream,
			StreamCall: func(tool, piece string) { received += tool + piece + " " },
		})
		if want := `search{"query search":"fog"} search{"quer searchy":"ca `; stream != nil && received != want {
			t.Errorf("received %q", received)
		}
		if err != nil || a.End != llm.Called || a.Text != "I look." || len(a.Calls) != 2 || a.Calls[0] != calls[0] ||
			a.Calls[1] != calls[1] {
			t.Errorf("streamed %v: %+v %v", stream != nil, a, err)
		}
	}
}

// A broken stream is requested again, and its listener gets a restart.
func TestBrokenStreams(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		faults  []llmtest.Fault
		restart int
	}{
		"the connection ends":        {[]llmtest.Fault{{Cut: true, Midway: 3}}, 1},
		"it ends before it began":    {[]llmtest.Fault{{Cut: true}}, 0},
		"no finish_reason":           {[]llmtest.Fault{{Unfinished: true}}, 1},
		"truncated JSON":             {[]llmtest.Fault{{Garbled: true, Midway: 2}}, 1},
		"an error in it":             {[]llmtest.Fault{{Status: 500, Code: "server_error", Midway: 2}}, 1},
		"a limit in it":              {[]llmtest.Fault{{Status: 429, Code: "rate_limit_exceeded", Midway: 1}}, 1},
		"silence in it":              {[]llmtest.Fault{{Hang: true, Midway: 2}}, 1},
		"twice":                      {[]llmtest.Fault{{Cut: true, Midway: 3}, {Unfinished: true}}, 2},
		"first a limit, then broken": {[]llmtest.Fault{llmtest.RateLimited, {Cut: true, Midway: 1}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := llmtest.NewInProcess(llmtest.Options{Reply: func(llmtest.ChatRequest) llmtest.Reply {
					return llmtest.Reply{Text: poem}
				}})
				s.Script(tt.faults...)
				c, _ := openChat(t, s, func(c *Config) { c.RequestTimeout = 200 * time.Millisecond })
				var l listener
				a, err := c.Ask(t.Context(), llm.Question{Text: "A poem?", Stream: l.stream})
				if err != nil || a.Text != poem || l.received != poem || l.restarts != tt.restart ||
					s.Requests() != len(tt.faults)+1 {
					t.Errorf("%+v %v; received %+v after %d requests", a, err, l, s.Requests())
				}
			})
		})
	}
}

// A lasting error in a stream has the same class as in an answer.
func TestErrorsInStreams(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault llmtest.Fault
		class taskerr.Class
	}{
		"no quota": {llmtest.Fault{Status: 429, Code: "insufficient_quota"}, taskerr.QuotaExceeded},
		"a limit":  {llmtest.Fault{Status: 429, Code: "rate_limit_exceeded"}, taskerr.AIRateLimit},
		"too long": {llmtest.TooLong, taskerr.ValidationError},
		"broken":   {llmtest.Fault{Unfinished: true}, taskerr.DependencyUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.New(t, llmtest.Options{})
			tt.fault.Midway = 1
			s.Break(tt.fault)
			c, _ := openChat(t, s, nil)
			_, err := c.Ask(t.Context(), llm.Question{Text: "A poem?", Stream: func(string, bool) {}})
			if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != tt.class {
				t.Errorf("%v, want %s", err, tt.class)
			}
		})
	}
	s := llmtest.New(t, llmtest.Options{})
	s.Break(llmtest.Fault{Status: 400, Code: "content_filter", Midway: 1})
	c, _ := openChat(t, s, nil)
	if a, err := c.Ask(t.Context(), llm.Question{Text: "A poem?", Stream: func(string, bool) {}}); err != nil ||
		a.End != llm.Filtered {
		t.Errorf("filtered: %+v %v", a, err)
	}
}

// The timeout of a stream is between two pieces: the whole stream may take longer.
func TestSlowStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 300 * time.Millisecond
		s := llmtest.NewInProcess(llmtest.Options{Reply: func(llmtest.ChatRequest) llmtest.Reply {
			return llmtest.Reply{
				Text: poem, Pieces: strings.SplitAfter(poem, " "), Before: func(int) { time.Sleep(limit * 3 / 4) },
			}
		}})
		c, _ := openChat(t, s, func(c *Config) { c.RequestTimeout = limit })
		start := time.Now()
		a, err := c.Ask(t.Context(), llm.Question{Text: "A poem?", Stream: func(string, bool) {}})
		if err != nil || a.Text != poem || s.Requests() != 1 || time.Since(start) < 2*limit {
			t.Errorf("%+v %v after %v and %d requests", a, err, time.Since(start), s.Requests())
		}
	})
}
