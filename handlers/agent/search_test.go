package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// A filter that the database can't hold is the model's mistake, of which it is told.
func TestSearchForHugeNumber(t *testing.T) {
	t.Parallel()
	told := false
	b := newBench(t, func(n int, q llm.Question) llm.Answer {
		if n == 1 {
			return call("search", `{"query":"wind","metadata":{"n":1e999999}}`)
		}
		told = told || strings.Contains(fmt.Sprintf("%+v", q.Turns), "can't be searched for")
		return finish("Nothing.")
	})
	b.ask(`{"prompt":"x","document_set":"harbour"}`)
	if !told {
		t.Error("the model was not told of its mistake")
	}
}

// What else the database refuses of a search with a filter is no mistake of the model's, which could not mend it.
func TestSearchThatFails(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(n int, _ llm.Question) llm.Answer {
		if n == 1 {
			return call("search", `{"query":"wind","metadata":{"n":1}}`)
		}
		return finish("Nothing.")
	})
	b.document("harbour", "a.pdf", wind)
	b.deps.Find = func(ctx context.Context, s search.Store, _ search.Query) (search.Found, error) {
		_, err := s.Search(ctx, store.Query{Embedding: []float32{1, 2}, Limit: 1})
		return search.Found{}, err
	}
	if _, err := b.try(agent.New(b.deps), `{"prompt":"x"}`, &handlertest.Progress{}); err == nil ||
		!strings.Contains(err.Error(), "the embedding does not fit the schema") {
		t.Errorf("%v", err)
	}
}

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
