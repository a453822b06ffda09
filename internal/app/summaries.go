package app

import (
	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/source"
)

// newSummarize returns the handler of summaries. Without a model it selects sentences.
func (t *Tenant) summarizeDeps(documents *extract.Router, filter *privacy.Filter, web *source.Web, tempDir string) summarize.Deps {
	return summarize.Deps{
		Bucket: t.Bucket, Web: web, Extractor: documents, Store: t.Store, Limits: t.limits(), Privacy: filter, TempDir: tempDir,
		Log:  t.log,
		Chat: t.Chat.Chat, Window: t.Chat.Window, Counter: t.Chat.Counter, MaxTokens: t.Config.MaxTaskTokens,
		Concurrency: t.Config.SummarizeConcurrency, Extracts: extracts{},
		Chunks: t.counter, EmbeddingModel: t.Embedder.Model(), EmbeddingDimensions: t.Embedder.Dimensions(),
		ExtractorNeeds: extractorNeeds(t.Config),
	}
}

// extracts summarizes without a model.
type extracts struct{}

var _ summarize.Extracts = extracts{}

func (extracts) Model() string { return offline.SummaryModel }

func (extracts) Sentences(text string) []string {
	found := offline.Sentences(text)
	all := make([]string, len(found))
	for i, s := range found {
		all[i] = s.Text
	}
	return all
}

func (extracts) Choose(sentences []string, most, words int) []int {
	var chosen []int
	for _, s := range offline.Summarize(sentences, offline.Limit{Sentences: most, Words: words}) {
		chosen = append(chosen, s.Index)
	}
	return chosen
}
