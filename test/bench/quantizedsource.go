package main

import (
	"context"
	"math/rand/v2"

	"github.com/seed-7227ef26/async-worker/test/quality/retrieval"
)

// embedBatch is how many passages go into a request for vectors.
const embedBatch = 256

// vectorSource is where the vectors of a benchmark are from: more returns the next ones, none at the end.
type vectorSource struct {
	name       string
	dimensions int
	more       func(context.Context) ([][]float32, error)
	ask        func(context.Context) ([][]float32, error) // for the questions
}

// source is the set's passages with a model's vectors, or the sample.
func (b *quantizedBench) source(ctx context.Context) (s vectorSource, stop func() error, err error) {
	if b.set == "" {
		return b.made(), func() error { return nil }, nil
	}
	set, err := retrieval.Load(b.set)
	if err != nil {
		return s, nil, err
	}
	e, stop, err := retrieval.Embedder(ctx, b.embeddings, b.venv)
	if err != nil {
		return s, nil, err
	}
	random := rand.New(rand.NewPCG(b.seed, 1))
	random.Shuffle(len(set.Passages), func(i, j int) { set.Passages[i], set.Passages[j] = set.Passages[j], set.Passages[i] })
	random.Shuffle(len(set.Questions), func(i, j int) { set.Questions[i], set.Questions[j] = set.Questions[j], set.Questions[i] })
	passages := make([]string, len(set.Passages))
	for i, p := range set.Passages {
		passages[i] = p.Title + "\n" + p.Text
	}
	questions := make([]string, min(b.queries, len(set.Questions)))
	for i := range questions {
		questions[i] = set.Questions[i].Text
	}
	embed := func(texts *[]string) func(context.Context) ([][]float32, error) {
		return func(ctx context.Context) ([][]float32, error) {
			batch := (*texts)[:min(embedBatch, len(*texts))]
			if *texts = (*texts)[len(batch):]; len(batch) == 0 {
				return nil, nil
			}
			v, err := e.Embed(ctx, batch)
			return v.Vectors, err
		}
	}
	ask := embed(&questions)
	return vectorSource{
		name: "vectors of " + e.Model(), dimensions: e.Dimensions(), more: embed(&passages),
		ask: func(ctx context.Context) (all [][]float32, err error) {
			for {
				some, err := ask(ctx)
				if all = append(all, some...); err != nil || len(some) == 0 {
					return all, err
				}
			}
		},
	}, stop, nil
}

// made are documents of the sample; the questions are near some of their chunks.
func (b *quantizedBench) made() vectorSource {
	sample := newSample(b.seed, b.dimensions)
	var asked [][]float32
	every := max(b.rows/perDocument/b.queries, 1)
	documents := 0
	return vectorSource{
		name: "made, by topics", dimensions: b.dimensions,
		more: func(context.Context) ([][]float32, error) {
			chunks := sample.document(-1)
			vectors := make([][]float32, len(chunks))
			for i, c := range chunks {
				vectors[i] = c.Embedding
			}
			if documents++; documents%every == 0 && len(asked) < b.queries {
				asked = append(asked, sample.near(vectors[sample.random.IntN(len(vectors))], 0.6))
			}
			return vectors, nil
		},
		ask: func(context.Context) ([][]float32, error) { return asked, nil },
	}
}
