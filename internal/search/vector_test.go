package search_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// weighing is a store that knows how rare words are, and keeps what it is asked.
type weighing struct {
	shelf
	rare   store.Rarity
	err    error
	vector *[]float32
	about  *string
}

func (w weighing) Search(ctx context.Context, q store.Query) ([]store.Hit, error) {
	*w.vector = q.Embedding
	return w.shelf.Search(ctx, q)
}

func (w weighing) Rarity(_ context.Context, question string) (store.Rarity, error) {
	*w.about = question
	return w.rare, w.err
}

// TestRarity: without a model a question's words weigh by their rarity; what it excludes has none.
func TestRarity(t *testing.T) {
	t.Parallel()
	e, err := offline.New(64)
	if err != nil {
		t.Fatal(err)
	}
	var vector []float32
	var about string
	s := weighing{
		rare:   store.Rarity{All: 100, Words: map[string]*float64{"crane": new(1.0), "harbour": new(90.0)}},
		vector: &vector, about: &about,
	}
	ask := search.Query{Text: "harbour crane -ship", Limit: 10}
	if _, err := (search.Finder{Embedder: e}).Find(t.Context(), s, ask); err != nil {
		t.Fatal(err)
	}
	if about != "harbour crane" || !slices.Equal(vector, e.Question(about, s.rare.All, s.rare.Words)) {
		t.Errorf("it asked for the rarity of %q, and searched by another vector", about)
	}

	s.err, s.rare = store.ErrSchema, store.Rarity{}
	if _, err := (search.Finder{Embedder: e}).Find(t.Context(), s, ask); err != nil || !slices.Equal(vector, e.Question(about, 0, nil)) {
		t.Errorf("a database of an earlier version: %v", err)
	}
	s.err = errors.New("down")
	if _, err := (search.Finder{Embedder: e}).Find(t.Context(), s, ask); !errors.Is(err, s.err) {
		t.Errorf("a database that is down: %v", err)
	}
}
