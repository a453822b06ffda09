package retrieval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// index is a database with the passages of one set: a document of one chunk for each, with vectors of the offline
// provider, as they are without a key, or of a model.
type index struct {
	store    store.Store
	embedder llm.Embedder
	url      string
}

func newIndex(ctx context.Context, pg *stack.Postgres, name string, e llm.Embedder, passages []Passage) (*index, error) {
	if err := pg.CreateDatabase(ctx, name, "template1"); err != nil {
		return nil, err
	}
	x := &index{url: pg.URL(name), embedder: e}
	if _, err := schema.Migrate(ctx, x.url, schema.Options{Dimensions: e.Dimensions()}); err != nil {
		return nil, err
	}
	var err error
	if x.store, err = postgres.Open(ctx, x.url, postgres.Options{
		ClientID: "quality", MaxConns: 2, Dimensions: e.Dimensions(),
	}); err != nil {
		return nil, err
	}
	for _, p := range passages {
		if err := x.add(ctx, p); err != nil {
			x.store.Close()
			return nil, fmt.Errorf("index passage %s: %w", p.ID, err)
		}
	}
	return x, nil
}

func (x *index) add(ctx context.Context, p Passage) error {
	begun := store.Begin{
		Task: store.Task{
			JobID: "quality-" + uuid.NewString(), Type: "ingest", Payload: json.RawMessage(`{}`),
			Hints: json.RawMessage(`{}`), Priority: "normal", Fingerprint: p.ID, MaxAttempts: 1,
		},
		Worker: "quality", Lease: time.Hour, Original: "{}", ID: uuid.NewString(),
		Source: store.Source{Queue: "quality", MessageID: uuid.NewString(), InsertedAt: time.Now()},
	}
	answer, err := x.store.Begin(ctx, begun)
	if err != nil {
		return err
	}
	h := store.Holder{JobID: begun.JobID, Fence: answer.Fence}
	s, err := x.store.StageDocument(ctx, store.Staging{Holder: h, DocumentSet: "quality", Filename: p.ID, Blob: p.ID})
	if err != nil {
		return err
	}
	text := p.Text
	if p.Title != "" {
		text = p.Title + "\n\n" + text
	}
	vectors, err := x.embedder.Embed(ctx, []string{text})
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(text))
	key, language := hex.EncodeToString(hash[:]), enrich.Detect(text).Code
	missing, err := x.store.StageChunks(ctx, store.ChunkBatch{
		Holder: h, DocumentID: s.DocumentID, Version: s.Version, Model: x.embedder.Model(),
		Chunks: []store.Chunk{{Content: text, Kind: "text", Key: key, Language: language, Embedding: vectors.Vectors[0]}},
	})
	if err != nil || len(missing) > 0 {
		return errors.Join(err, fmt.Errorf("%d chunks without a vector", len(missing)))
	}
	_, err = x.store.Complete(ctx, store.Completion{
		Holder: h, Result: json.RawMessage(`{}`),
		Effects: []store.Effect{{Kind: store.EffectActivateDocument, Args: store.Activation{
			Reading: store.Reading{
				ContentSHA256: key, TextSHA256: key, Format: "txt", Pipeline: "quality", Extractor: "quality",
				Characters: len(text), Enrichment: store.Enrichment{Language: language},
			},
			DocumentID: s.DocumentID, Version: s.Version, Chunks: 1, Blob: p.ID,
		}}},
	})
	return err
}

// search ranks the passages by words, by the vector, or by both.
func (x *index) search(ctx context.Context, text string, words, vector bool) ([]string, time.Duration, error) {
	q := store.Query{Limit: depth}
	start := time.Now()
	if words {
		q.Text = text
	}
	if vector {
		v, err := search.Vector(ctx, x.embedder, x.store, store.PositiveTerms(text))
		if err != nil {
			return nil, 0, err
		}
		q.Embedding = v
		if _, ok := x.embedder.(llm.Questioner); !ok {
			start = time.Now() // how long a model takes says nothing of the search
		}
	}
	hits, err := x.store.Search(ctx, q)
	took := time.Since(start)
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.Filename
	}
	return ids, took, err
}
