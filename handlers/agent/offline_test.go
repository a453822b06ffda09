package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Without a model the agent answers with labelled passages, and Check refuses tasks that need a model.
func TestOffline(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	b.document("harbour", "handbook.pdf", "Boats are cleaned in spring. "+wind+" The pilots live ashore.",
		"The canteen opens at noon.")
	b.document("other", "secret.pdf", "The wind speed of the secret is 99 m/s.")
	b.deps.Chat, b.deps.Offline = nil, byWords{}
	j := &handlertest.Progress{}
	r, err := b.try(agent.New(b.deps), `{"prompt":"At what wind speed are the cranes parked?","document_set":"harbour"}`, j)
	if err != nil || !r.RetrievalOnly || r.Model != "offline-test" || r.Steps != 0 || r.PromptTokens != 0 ||
		r.Ended != "retrieved" ||
		!strings.Contains(r.Text, "No model is set up") || !strings.Contains(r.Text, wind) || j.Text != r.Text {
		t.Errorf("%+v, %v", r, err)
	}
	if len(r.Citations) == 0 || r.Citations[0].Quote != wind || strings.Contains(r.Text, "secret") {
		t.Errorf("%+v", r.Citations)
	}
	r, err = b.try(agent.New(b.deps), `{"prompt":"At what -wind speed are the\n-cranes parked?","document_set":"harbour"}`, j)
	if err != nil || len(r.Citations) == 0 || r.Citations[0].Quote != wind {
		t.Errorf("a prompt with dashes is no query: %+v, %v", r, err)
	}
	find := b.deps.Find
	b.deps.Find = func(ctx context.Context, s search.Store, q search.Query) (search.Found, error) {
		found, err := find(ctx, s, q)
		found.Notice = "The re-ranker failed."
		return found, err
	}
	r, err = b.try(agent.New(b.deps), `{"prompt":"At what wind speed are the cranes parked?"}`, &handlertest.Progress{})
	if err != nil || !slices.Contains(r.Warnings, "The re-ranker failed.") {
		t.Errorf("the search's notice is not among the warnings: %q, %v", r.Warnings, err)
	}
	b.document("links", "page.html", "The wind speed is at https://evil.example/x?q=1")
	r, err = b.try(agent.New(b.deps), `{"prompt":"At what wind speed are the cranes parked?","document_set":"links"}`, &handlertest.Progress{})
	if err != nil || !strings.Contains(r.Text, "evil.example") || !strings.Contains(strings.Join(r.Warnings, " "), "evil.example") {
		t.Errorf("quotations with a link: %q, warnings %q, %v", r.Text, r.Warnings, err)
	}
	for name, c := range map[string]struct {
		h       *agent.Handler
		payload string
	}{
		"ai": {agent.NewAI(b.deps), `{"prompt":"x"}`}, "schema": {
			agent.New(b.deps),
			`{"prompt":"x","response_schema":{"type":"object"}}`,
		},
	} {
		if _, err := b.try(c.h, c.payload, &handlertest.Progress{}); err == nil ||
			!strings.Contains(err.Error(), "LLM_PROVIDER is offline; set LLM_PROVIDER=openai and its key") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// byWords ranks sentences about wind, if it knows what the passages of all are worth.
type byWords struct{}

func (byWords) Model() string { return "offline-test" }

func (byWords) Sentences(text string) []string { return strings.SplitAfter(text, ". ") }

func (byWords) Rank(_ string, texts []string, worth []float64) (best []int) {
	if len(worth) != len(texts) || slices.Max(worth) == 0 {
		return nil
	}
	for i, text := range texts {
		if strings.Contains(text, "wind speed") {
			best = append(best, i)
		}
	}
	return best
}

var _ agent.Store = store.Store(nil)

// A search notes when results are only near the query, and omits what the query excludes.
func TestSearchNotes(t *testing.T) {
	t.Parallel()
	calls := []object{{"query": "lighthouse"}, {"query": "cranes"}, {"query": "lighthouse -cranes"}, {"query": "?"}}
	b := newBench(t, func(n int, _ llm.Question) llm.Answer {
		if n <= len(calls) {
			return call("search", calls[n-1])
		}
		return finish("Nothing.")
	})
	b.document("harbour", "a.pdf", wind, "Boats are painted in spring.")
	b.ask(`{"prompt":"x","document_set":"harbour"}`)
	got := results(b.model.questions[len(b.model.questions)-1])
	const near = "no passage has a word of the query"
	for i, want := range []struct{ near, wind, nothing bool }{
		{near: true, wind: true},
		{wind: true},
		{near: true},
		{nothing: true},
	} {
		if strings.Contains(got[i], near) != want.near || strings.Contains(got[i], `pages="1"`) != want.wind ||
			strings.Contains(got[i], "nothing was found") != want.nothing {
			t.Errorf("%v: %s", calls[i], got[i])
		}
	}
}
