package llmtest_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// ask sends a chat completion and returns the answer with its body read.
func ask(ctx context.Context, t *testing.T, s *llmtest.Server, body string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+llmtest.Key)
	response, err := s.Client().Do(r)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	return response, string(raw), err
}

const hello = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`

// Without a network, the bucket refills in virtual time.
func TestLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.NewInProcess(llmtest.Options{
			Limits: llmtest.Limits{Requests: 2, Period: 10 * time.Second, Pause: "5"},
		})
		for i, want := range []struct {
			status    int
			remaining string
			reset     string
		}{{200, "1", "5s"}, {200, "0", "10s"}, {429, "0", "10s"}, {200, "0", "10s"}} {
			if i == 3 {
				time.Sleep(5 * time.Second) // virtual time
			}
			r, _, err := ask(t.Context(), t, s, hello)
			if err != nil {
				t.Fatal(err)
			}
			h := r.Header
			if r.StatusCode != want.status || h.Get("X-Ratelimit-Limit-Requests") != "2" ||
				h.Get("X-Ratelimit-Remaining-Requests") != want.remaining ||
				h.Get("X-Ratelimit-Reset-Requests") != want.reset {
				t.Errorf("request %d: %d %v", i, r.StatusCode, h)
			}
			if (h.Get("Retry-After") == "5") != (want.status == 429) {
				t.Errorf("request %d: Retry-After %q", i, h.Get("Retry-After"))
			}
		}
		if s.Refused() != 1 || s.Most(time.Second) != 3 || s.Most(time.Minute) != 4 {
			t.Errorf("%d refused, %d in a second", s.Refused(), s.Most(time.Second))
		}
	})
}

// In-process streams behave like those over a network: they arrive in pieces, break off, and end with their context.
func TestInProcess(t *testing.T) {
	t.Parallel()
	s := llmtest.NewInProcess(llmtest.Options{})
	streamed := strings.TrimSuffix(hello, "}") + `,"stream":true}`
	if _, body, err := ask(t.Context(), t, s, streamed); err != nil || !strings.Contains(body, `"content":"An "`) ||
		!strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("%v %s", err, body)
	}
	s.Script(llmtest.Fault{Cut: true, Midway: 1})
	if _, body, err := ask(t.Context(), t, s, streamed); err == nil || !strings.Contains(body, `"content":"An "`) {
		t.Errorf("cut: %v %s", err, body)
	}
	for body, fault := range map[string]llmtest.Fault{streamed: {Hang: true, Midway: 1}, hello: {Hang: true}} {
		s := llmtest.NewInProcess(llmtest.Options{}) // of its own: the request may end before it meets the fault
		s.Script(fault)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		if _, _, err := ask(ctx, t, s, body); err == nil {
			t.Error("a request that hangs returned no error")
		}
		cancel()
	}
}

// The stand-in refuses what the real service refuses.
func TestChatRefusals(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{Window: 50})
	for name, tt := range map[string]struct {
		body string
		says string
	}{
		"no content":   {`{"model":"m","messages":[{"role":"user"}]}`, "messages.[0].content"},
		"an open call": {`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}}]},{"role":"user","content":"x"}]}`, "messages.[1].role"},
		"an answer to none": {
			`{"model":"m","messages":[{"role":"tool","tool_call_id":"a","content":"x"}]}`,
			"messages.[0].role",
		},
		"a schema that isn't": {`{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema"}}`, "response_format"},
		"an open strict one":  {`{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object"}}}]}`, "invalid_function_parameters"},
		"an unknown tool":     {`{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":{"type":"function","function":{"name":"g"}}}`, "not found in 'tools'"},
		"a long prompt": {`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("word ", 60) +
			`"}]}`, "context_length_exceeded"},
	} {
		if r, body, err := ask(t.Context(), t, s, tt.body); err != nil || r.StatusCode != http.StatusBadRequest ||
			!strings.Contains(body, tt.says) {
			t.Errorf("%s: %v %s", name, err, body)
		}
	}
	if s.Tokens() != 0 {
		t.Errorf("refused requests were billed %d tokens", s.Tokens())
	}
}
