package app

import (
	"cmp"
	"slices"

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

// Rank orders texts by the words that they share with the query, and by the square of their passages' worth: only that
// knows how rare the words are in all of the documents. It leaves out texts that share little, unless no text shares more.
func (quotations) Rank(query string, texts []string, worth []float64) (best []int) {
	ranked := offline.Relevant(query, texts)
	few := slices.IndexFunc(ranked, func(s offline.Scored) bool { return s.Score < minScore })
	if few == 0 {
		few = 1
	}
	if few > 0 {
		ranked = ranked[:few]
	}
	for i, s := range ranked {
		ranked[i].Score = s.Score * worth[s.Index] * worth[s.Index]
	}
	slices.SortStableFunc(ranked, func(a, b offline.Scored) int { return cmp.Compare(b.Score, a.Score) })
	for _, s := range ranked {
		best = append(best, s.Index)
	}
	return best
}
