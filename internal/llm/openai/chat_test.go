package openai

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func openChat(t *testing.T, s *llmtest.Server, change func(*Config)) (*Chat, *clock) {
	t.Helper()
	config := Config{
		BaseURL: s.URL(), APIKey: llmtest.Key, Model: "vision-1", HTTPClient: s.Client(),
		Names: Names{URL: "OCR_BASE_URL", Model: "OCR_MODEL"},
	}
	if change != nil {
		change(&config)
	}
	c, err := NewChat(config)
	if err != nil {
		t.Fatal(err)
	}
	time := &clock{now: time.Unix(1_700_000_000, 0)}
	c.limiter.now, c.limiter.sleep, c.limiter.after = time.Now, time.Sleep, time.After
	return c, time
}

func question(t *testing.T) llm.Question {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	return llm.Question{
		Text: "What is this?", Images: []llm.Image{{MediaType: "image/png", Data: b.Bytes()}}, MaxTokens: 50,
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*llmtest.Server) func(*Config){
		"OpenAI": func(*llmtest.Server) func(*Config) { return nil },
		"Azure": func(s *llmtest.Server) func(*Config) {
			return func(c *Config) {
				c.Azure = &Azure{Endpoint: s.AzureURL(), APIKey: llmtest.Key, APIVersion: "2024-10-21"}
			}
		},
	} {
		s := llmtest.New(t, llmtest.Options{})
		c, _ := openChat(t, s, change(s))
		a, err := c.Ask(t.Context(), question(t))
		if err != nil || a.Text != "An answer." || a.End != llm.Stopped || a.PromptTokens < 765 ||
			a.CompletionTokens == 0 {
			t.Errorf("%s: %+v %v", name, a, err)
		}
		got := s.Received()[0].Chat
		if got.Model != "vision-1" || got.Text != "What is this?" || len(got.Images) != 1 ||
			got.Images[0].Bounds().Dx() != 30 || got.MaxTokens != 50 {
			t.Errorf("%s: asked %+v", name, got)
		}
		// The library omits a temperature of zero, and the service would use 1.
		if got.Temperature == nil || *got.Temperature > 1e-6 {
			t.Errorf("%s: temperature %v", name, got.Temperature)
		}
	}
}

func TestEndsOfAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reply llmtest.Reply
		end   llm.End
		text  string
	}{
		"stop":    {llmtest.Reply{Text: "all"}, llm.Stopped, "all"},
		"cut off": {llmtest.Reply{Text: strings.Repeat("word ", 200)}, llm.CutOff, "word"},
		"filter":  {llmtest.Reply{Text: "half", Finish: "content_filter"}, llm.Filtered, "half"},
		"refusal": {llmtest.Reply{Refusal: "I will not."}, llm.Refused, "I will not."},
	} {
		s := llmtest.New(t, llmtest.Options{Reply: func(llmtest.ChatRequest) llmtest.Reply { return tt.reply }})
		c, _ := openChat(t, s, nil)
		if a, err := c.Ask(t.Context(), question(t)); err != nil || a.End != tt.end ||
			!strings.HasPrefix(a.Text, tt.text) {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
	s := llmtest.New(t, llmtest.Options{Poison: "What"}) // like Azure's filter of prompts
	c, _ := openChat(t, s, nil)
	if a, err := c.Ask(t.Context(), question(t)); err != nil || a.End != llm.Filtered || s.Requests() != 1 {
		t.Errorf("filtered prompt: %+v %v", a, err)
	}
}

// Requests to a model that rejects max_tokens and a temperature omit them from the second one on.
func TestReasoningModel(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"my-deployment", "gpt-5-mini"} { // the library knows the second by its name
		s := llmtest.New(t, llmtest.Options{Reasoning: true})
		c, _ := openChat(t, s, func(c *Config) { c.Model = model })
		for range 2 {
			if a, err := c.Ask(t.Context(), question(t)); err != nil || a.Text == "" {
				t.Fatalf("%s: %v", model, err)
			}
		}
		last := s.Received()[s.Requests()-1].Chat
		if last.Temperature != nil || !last.Completion || last.MaxTokens != 50 || s.Requests() > 4 {
			t.Errorf("%s: %+v after %d requests", model, last, s.Requests())
		}
	}
}

// A reasoning model that used all tokens before its answer is cut off, although the service reports that as a refusal.
func TestCutOffBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for _, stream := range []func(string, bool){nil, func(string, bool) {}} {
		s := llmtest.New(t, llmtest.Options{Reasoning: true, Thinking: 60})
		c, _ := openChat(t, s, nil)
		q := question(t)
		q.Stream = stream
		a, err := c.Ask(t.Context(), q)
		if err != nil || a.End != llm.CutOff || a.Text != "" || a.PromptTokens < 700 || a.CompletionTokens != q.MaxTokens {
			t.Errorf("50 tokens: %+v %v", a, err)
		}
		q.MaxTokens *= 2
		if a, err = c.Ask(t.Context(), q); err != nil || a.End != llm.Stopped || a.Text == "" {
			t.Errorf("100 tokens: %+v %v", a, err)
		}
	}
}

func TestChatFailures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		faults []llmtest.Fault
		class  taskerr.Class // empty: the question succeeds in the end
		says   string
		waited time.Duration
	}{
		"a pause":    {[]llmtest.Fault{llmtest.RateLimited.After("3")}, "", "", 3 * time.Second},
		"overloaded": {[]llmtest.Fault{llmtest.Overloaded.After("2")}, "", "", 2 * time.Second},
		"a long pause": {
			[]llmtest.Fault{llmtest.RateLimited.After("600")},
			taskerr.AIRateLimit, "limits the rate",
			0,
		},
		"no quota":    {[]llmtest.Fault{llmtest.NoQuota}, taskerr.QuotaExceeded, "add credit", 0},
		"a wrong key": {[]llmtest.Fault{llmtest.WrongKey}, taskerr.DependencyUnavailable, "OPENAI_API_KEY", 0},
		"no such model": {
			[]llmtest.Fault{llmtest.UnknownModel},
			taskerr.DependencyUnavailable,
			`"vision-1" or the path; check OCR_MODEL and OCR_BASE_URL`, 0,
		},
		"a bad request": {
			[]llmtest.Fault{{Status: 400, Param: "messages.[0].content"}},
			taskerr.ValidationError,
			"refuses the request", 0,
		},
		"a cut answer":   {[]llmtest.Fault{llmtest.CutShort}, "", "", 0},
		"no completions": {[]llmtest.Fault{{Status: 500}, {Status: 502}}, "", "", 0},
	} {
		s := llmtest.New(t, llmtest.Options{})
		s.Script(tt.faults...)
		c, time := openChat(t, s, nil)
		_, err := c.Ask(t.Context(), question(t))
		switch e, _ := errors.AsType[*taskerr.Error](err); {
		case tt.class == "":
			if err != nil || time.total() < tt.waited {
				t.Errorf("%s: %v after %v", name, err, time.total())
			}
		case e == nil || e.Class != tt.class || !strings.Contains(e.Message, tt.says) ||
			taskerr.Classes[e.Class].Retryable && e.Dependency != taskerr.Chat:
			t.Errorf("%s: %v", name, err)
		}
	}
	s := llmtest.New(t, llmtest.Options{Reply: func(
		llmtest.ChatRequest,
	) llmtest.Reply {
		return llmtest.Reply{None: true}
	}})
	c, _ := openChat(t, s, nil)
	if _, err := c.Ask(t.Context(), question(t)); err == nil || !strings.Contains(err.Error(), "no answer") ||
		s.Requests() != maxTries {
		t.Errorf("without a choice: %v after %d requests", err, s.Requests())
	}
}
