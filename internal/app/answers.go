package app

import (
	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
)

// answers are what the tasks agent and ai work with.
func (t *Tenant) answers() agent.Deps {
	d := agent.Deps{
		Store: t.Store, Embedder: t.Embedder, Chat: t.Chat.Chat, Counter: t.Chat.Counter, Window: t.Chat.Window,
		MaxTokens: t.Chat.Ceiling, StepTimeout: t.Config.StepTimeout,
	}
	if t.Chat.Offline() {
		d.Offline, d.Counter = quotations{}, t.counter
	}
	return d
}

// quotations is an agent.Ranker of the offline provider.
type quotations struct{}

func (quotations) Model() string { return offline.AnswerModel }

func (quotations) Sentences(text string) (all []string) {
	for _, s := range offline.Sentences(text) {
		all = append(all, s.Text)
	}
	return all
}

// telling is the least score of a text that shares words with a query, and not just pieces of them.
const telling = 0.3

// Rank leaves out what shares little with the query, unless nothing shares more.
func (quotations) Rank(query string, texts []string) (best []int) {
	for i, s := range offline.Relevant(query, texts) {
		if i == 0 || s.Score >= telling {
			best = append(best, s.Index)
		}
	}
	return best
}
