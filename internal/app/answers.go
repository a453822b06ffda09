package app

import (
	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
)

// answers returns the dependencies of the handlers of the task types agent and ai.
func (t *Tenant) answers() agent.Deps {
	d := agent.Deps{
		Store: t.Store, Find: t.Find, Chat: t.Chat.Chat, Counter: t.Chat.Counter, Window: t.Chat.Window,
		MaxTokens: t.Chat.Ceiling, StepTimeout: t.Config.StepTimeout,
	}
	if t.Chat.Offline() {
		d.Offline, d.Counter = quotations{}, t.counter
	}
	return d
}

// quotations is the agent.Ranker of the offline provider.
type quotations struct{}

func (quotations) Model() string { return offline.AnswerModel }

func (quotations) Sentences(text string) (all []string) {
	for _, s := range offline.Sentences(text) {
		all = append(all, s.Text)
	}
	return all
}

// minScore is the lowest score of a text that shares whole words with a query, not only parts of words.
const minScore = 0.3

// Rank leaves out texts that share little with the query, unless no text shares more.
func (quotations) Rank(query string, texts []string) (best []int) {
	for i, s := range offline.Relevant(query, texts) {
		if i == 0 || s.Score >= minScore {
			best = append(best, s.Index)
		}
	}
	return best
}
