package openai

import (
	"errors"
	"sync"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A limit of max_tokens that the request keeps, or that none can keep, is an error: the same request would follow.
func TestMostTokensWithoutSense(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"0", "9000", "99999", "000000000"} {
		s := llmtest.New(t, llmtest.Options{})
		s.Break(llmtest.Fault{Status: 400, Param: "max_tokens", Message: "max_tokens must be at most " + limit, Before: func() {
			if s.Requests() > 9 {
				s.Mend()
			}
		}})
		c, _ := openChat(t, s, nil)
		_, err := c.Ask(t.Context(), llm.Question{Text: "Hello.", MaxTokens: 9000})
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.DependencyUnavailable || s.Requests() != 1 {
			t.Errorf("at most %s: %v after %d requests", limit, err, s.Requests())
		}
	}
}

// Questions that learn the same at the same time take one thing away, not one each.
func TestAdaptAtTheSameTime(t *testing.T) {
	t.Parallel()
	for param, check := range map[string]func(*llmtest.ChatRequest) bool{
		"response_format": func(r *llmtest.ChatRequest) bool { return r.Format == "json_object" },
		"tool_choice":     func(r *llmtest.ChatRequest) bool { return r.Choice == "required" },
	} {
		s := llmtest.New(t, llmtest.Options{})
		c, _ := openChat(t, s, nil)
		const most = 3 // the limiter lets through at a time
		var arrived, asked sync.WaitGroup
		arrived.Add(most)
		for range most {
			s.Script(llmtest.Fault{Status: 400, Param: param, Message: "unknown", Before: func() {
				arrived.Done()
				arrived.Wait()
			}})
		}
		ask := func() {
			if _, err := c.Ask(t.Context(), conversation()); err != nil {
				t.Errorf("%s: %v", param, err)
			}
		}
		for range most {
			asked.Go(ask)
		}
		asked.Wait()
		ask()
		requests := s.Received()
		if last := requests[len(requests)-1].Chat; !check(last) || len(requests) != 2*most+1 {
			t.Errorf("%s: %d requests, then %s", param, len(requests), last.Raw)
		}
	}
}
