package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Limits of an answer without a model.
const (
	lookedAt  = 8 // passages
	quotesOut = 6 // sentences of them
)

// quotation is a sentence of a passage.
type quotation struct {
	of   int // index of the passage
	text string
}

// retrieve answers without a model: it quotes the sentences of the best passages that match the prompt most. The answer
// says so.
func (r *run) retrieve(ctx context.Context) (answer, error) {
	if err := r.call.Progress.Stage(stageSending); err != nil {
		return answer{}, err
	}
	// A prompt is no query: it may quote any text, such as "the -n flag".
	answered, err := r.find(ctx, search.Query{Text: store.PlainTerms(clip(r.payload.Prompt, 2000)), Limit: lookedAt})
	if err != nil {
		return answer{}, err
	}
	found := passagesOf(answered.Hits)
	r.stream.enterStage()
	a := answer{ended: endRetrieved, retrieved: true}
	if answered.Notice != "" {
		a.warnings = append(a.warnings, answered.Notice)
	}
	var b strings.Builder
	b.WriteString("No model is set up: this is not an answer, but what the documents say about it, word for word.\n")
	last := -1
	for _, q := range r.quotations(answered.Hits) {
		p := found[q.of]
		if q.of != last {
			place := p.Filename
			if len(p.Pages) > 0 {
				place += fmt.Sprintf(", page %d", p.Pages[0])
			}
			fmt.Fprintf(&b, "\n%s:\n", place)
			last = q.of
		}
		a.citations = append(a.citations, citation(p, q.text))
		fmt.Fprintf(&b, "“%s” [%d]\n", strings.Join(strings.Fields(q.text), " "), len(a.citations))
	}
	if len(a.citations) == 0 {
		b.WriteString("\nNothing was found.\n")
	}
	text := strings.TrimSpace(b.String())
	r.stream.step(true)
	r.stream.send(text)
	a.value = quoted(text)
	return a, nil
}

// quotations returns the best sentences, each once. The passage with the best one comes first.
func (r *run) quotations(hits []search.Hit) []quotation {
	var all []quotation
	var texts []string
	var worth []float64
	for i, h := range hits {
		for _, sentence := range r.deps.Offline.Sentences(h.Content) {
			if quote, ok := locate(h.Content, sentence); ok && !slices.Contains(texts, quote) {
				all = append(all, quotation{i, quote})
				texts, worth = append(texts, quote), append(worth, h.Score)
			}
		}
	}
	best := r.deps.Offline.Rank(r.payload.Prompt, texts, worth)
	best = best[:min(len(best), quotesOut)]
	place := map[int]int{}
	var chosen []quotation
	for _, i := range best {
		if _, seen := place[all[i].of]; !seen {
			place[all[i].of] = len(place)
		}
		chosen = append(chosen, all[i])
	}
	slices.SortStableFunc(chosen, func(a, b quotation) int { return place[a.of] - place[b.of] })
	return chosen
}
