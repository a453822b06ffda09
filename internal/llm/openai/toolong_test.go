package openai

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

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
