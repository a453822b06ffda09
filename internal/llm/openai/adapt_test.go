package openai

import (
	"errors"
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
