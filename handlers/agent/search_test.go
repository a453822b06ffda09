package agent_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/search"
)

// A model's filter asks for the number that it wrote, and not for the nearest double.
func TestSearchForNumber(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(n int, _ llm.Question) llm.Answer {
		if n == 1 {
			return call("search", `{"query":"wind","metadata":{"n":9007199254740993}}`)
		}
		return finish("Nothing.")
	})
	find := b.deps.Find
	var asked search.Query
	b.deps.Find = func(ctx context.Context, s search.Store, q search.Query) (search.Found, error) {
		asked = q
		return find(ctx, s, q)
	}
	b.ask(`{"prompt":"x","document_set":"harbour"}`)
	if asked.Within == nil || fmt.Sprint(asked.Within.Metadata["n"]) != "9007199254740993" {
		t.Errorf("searched within %+v", asked.Within)
	}
}
