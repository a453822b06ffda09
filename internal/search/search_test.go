package search_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm/offline"
	"github.com/seed-7227ef26/async-worker/internal/rerank"
	"github.com/seed-7227ef26/async-worker/internal/rerank/reranktest"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// shelf is a store with these hits, in this order.
type shelf []store.Hit

func (s shelf) Search(_ context.Context, q store.Query) ([]store.Hit, error) {
	if len(q.Embedding) == 0 {
		return nil, errors.New("the query has no vector")
	}
	return append([]store.Hit(nil), s[:min(q.Limit, len(s))]...), nil
}

// Rarity: it was not migrated.
func (shelf) Rarity(context.Context, string) (store.Rarity, error) {
	return store.Rarity{}, store.ErrSchema
}

// Passages: nothing is around its hits.
func (shelf) Passages(context.Context, store.PassageQuery) ([]store.Passage, error) { return nil, nil }

func files(hits []search.Hit) string {
	var names []string
	for _, h := range hits {
		names = append(names, h.Filename)
	}
	return strings.Join(names, " ")
}

// deaf is a store that must not be asked.
type deaf struct{ t *testing.T }

func (d deaf) Rarity(context.Context, string) (store.Rarity, error) {
	d.t.Error("it was asked how rare the words are")
	return store.Rarity{}, nil
}

func (d deaf) Search(context.Context, store.Query) ([]store.Hit, error) {
	d.t.Error("the store is asked")
	return nil, nil
}

func (deaf) Passages(context.Context, store.PassageQuery) ([]store.Passage, error) { return nil, nil }

// strict is a store that refuses each question.
type strict struct{ shelf }

func (strict) Search(context.Context, store.Query) ([]store.Hit, error) {
	return nil, fmt.Errorf("refused: %w", store.ErrQuestion)
}

// TestInvalid: what can't find anything is an error that says what to do.
func TestInvalid(t *testing.T) {
	t.Parallel()
	embedder, err := offline.New(8)
	if err != nil {
		t.Fatal(err)
	}
	early, late := time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(2024, 3, 4, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		in   search.Store
		from *time.Time
		want string
	}{
		{deaf{t}, &late, "from is later than to; swap them, or leave one out"},
		{strict{}, &early, "query has more than 64 exclusions, phrases and ORs; leave some out, or ask several questions"},
	} {
		q := search.Query{Text: "crane", Limit: 3, Within: search.Narrowed(nil, c.from, &early, "")}
		_, err = search.Finder{Embedder: embedder}.Find(t.Context(), c.in, q)
		if bad, ok := errors.AsType[*search.InvalidError](err); !ok || bad.Error() != c.want {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
}

// noting is a store that notes what it is asked to mark.
type noting struct {
	shelf
	mark *string
}

func (m noting) Search(ctx context.Context, q store.Query) ([]store.Hit, error) {
	*m.mark = q.Mark
	return m.shelf.Search(ctx, q)
}

// TestUnmarked: marks cost the database time, and nothing is marked for a caller that shows none.
func TestUnmarked(t *testing.T) {
	t.Parallel()
	embedder, err := offline.New(8)
	if err != nil {
		t.Fatal(err)
	}
	for unmarked, want := range map[bool]string{true: "", false: "crane"} {
		var mark string
		in := noting{shelf{{ChunkID: "1", Content: "a crane"}}, &mark}
		found, err := search.Finder{Embedder: embedder}.Find(t.Context(), in, search.Query{Text: "crane", Limit: 3, Unmarked: unmarked})
		if err != nil || mark != want || (found.Hits[0].Highlights.Excerpt == "") != unmarked {
			t.Errorf("unmarked %v: the store is asked to mark %q, %+v, %v", unmarked, mark, found.Hits, err)
		}
	}
}

// TestNotAllRated: no hit has a higher score than the one before it, though only the first ones are rated.
func TestNotAllRated(t *testing.T) {
	t.Parallel()
	embedder, err := offline.New(8)
	if err != nil {
		t.Fatal(err)
	}
	in := make(shelf, 50)
	for i := range in {
		in[i] = store.Hit{ChunkID: strconv.Itoa(i), Content: "nothing", Score: 1 - float64(i)/100}
	}
	in[1].Content = "crane"
	f := search.Finder{Embedder: embedder, Rater: half{}}
	found, err := f.Find(t.Context(), in, search.Query{Text: "crane", Limit: 50})
	if err != nil || len(found.Hits) != 50 || found.Hits[0].Score != 0.5 || found.Hits[0].Content != "crane" {
		t.Fatalf("%+v, %v", found, err)
	}
	for i, h := range found.Hits[1:] {
		if h.Score > found.Hits[i].Score {
			t.Errorf("hit %d has %v, the one before it %v", i+1, h.Score, found.Hits[i].Score)
		}
	}
}

// half rates a crane with one half, and all else with less.
type half struct{}

func (half) Rate(_ context.Context, _ string, texts []string) ([]float64, error) {
	rates := make([]float64, len(texts))
	for i, text := range texts {
		rates[i] = 0.1
		if text == "crane" {
			rates[i] = 0.5
		}
	}
	return rates, nil
}

// TestRated: a hit that the store ranks below the limit may be the best; a service that fails leaves the store's order, and
// the answer and the log say so.
func TestRated(t *testing.T) {
	t.Parallel()
	embedder, err := offline.New(8)
	if err != nil {
		t.Fatal(err)
	}
	s := reranktest.New(t)
	client, err := rerank.New(rerank.Config{URL: s.URL + reranktest.TEI, APIKey: reranktest.Key, Rest: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	var log bytes.Buffer
	f := search.Finder{Embedder: embedder, Rater: client, Log: slog.New(slog.NewTextHandler(&log, nil))}
	in := shelf{
		{ChunkID: "a", Filename: "a", Content: "secret crane", Score: 0.9},
		{ChunkID: "b", Filename: "b", Content: "nothing", Score: 0.8},
		{ChunkID: "c", Filename: "c", Content: "lifts", HeadingPath: []string{"Crane", "Pilot"}, Score: 0.7},
	}
	q := search.Query{Text: "crane pilot", Limit: 2}
	found, err := f.Find(t.Context(), in, q)
	if err != nil || files(found.Hits) != "c a" || found.Hits[0].Score != 1 || found.Hits[1].Score != 0.5 || found.Notice != "" {
		t.Errorf("rated: %+v, %v", found, err)
	}
	s.Fail(reranktest.Status(500, ""))
	found, err = f.Find(t.Context(), in, q)
	if err != nil || files(found.Hits) != "a b" || found.Hits[0].Score != 0.9 || !strings.Contains(found.Notice, "re-ranker failed") {
		t.Errorf("it fails: %+v, %v", found, err)
	}
	if said := log.String(); !strings.Contains(said, "HTTP 500") || strings.Contains(said, "secret") {
		t.Errorf("the log: %s", said)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Find(ended, in, q); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended search: %v", err)
	}
	if found, err = f.Find(t.Context(), in, search.Query{Text: "crane pilot -storm", Limit: 2}); err != nil || found.Hits[0].Score != 1 {
		t.Errorf("with a word that is excluded: %+v, %v", found, err)
	}
	f.Rater = nil
	if found, err = f.Find(t.Context(), in, q); err != nil || files(found.Hits) != "a b" {
		t.Errorf("without a service: %+v, %v", found, err)
	}
}

// TestMarksKept: the store is asked for marks of the question without what it excludes, in each round, and a hit that was
// rated has its own. None of it is in the answer.
func TestMarksKept(t *testing.T) {
	t.Parallel()
	embedder, err := offline.New(8)
	if err != nil {
		t.Fatal(err)
	}
	s := &marking{shelf: make(shelf, 250)}
	for i := range s.shelf {
		s.shelf[i] = store.Hit{
			ChunkID: strconv.Itoa(i), DocumentID: "d", Content: "the word" + strconv.Itoa(i),
			Marks: &store.Marks{Words: []string{"word" + strconv.Itoa(i)}, Stemmed: true},
		}
	}
	s.shelf[30].Content = "crane"
	s.shelf[30].Marks.Words = []string{"crane"}
	f := search.Finder{Embedder: embedder, Rater: half{}}
	for _, perDocument := range []int{0, 1} {
		s.asked = nil
		found, err := f.Find(t.Context(), s, search.Query{Text: "the crane -storm", Limit: 5, PerDocument: perDocument})
		if err != nil || len(found.Hits) == 0 || found.Hits[0].Content != "crane" {
			t.Fatalf("%+v, %v", found, err)
		}
		if rounds := len(s.asked); rounds == 0 || (perDocument == 1) != (rounds > 1) {
			t.Errorf("asked for %q", s.asked)
		}
		for _, mark := range s.asked {
			if mark != "the crane" {
				t.Errorf("asked for marks of %q", mark)
			}
		}
		for i, h := range found.Hits {
			if len(h.Highlights.Marks) != 1 || h.Marks != nil || strings.Contains(h.Highlights.Excerpt, "<mark>the") ||
				h.Excerpt(900, 200) != h.Highlights.Excerpt {
				t.Errorf("hit %d, %s: %+v, %+v", i, h.Content, h.Highlights, h.Marks)
			}
		}
	}
}

// marking is a shelf that keeps for which marks it was asked.
type marking struct {
	shelf
	asked []string
}

func (m *marking) Search(ctx context.Context, q store.Query) ([]store.Hit, error) {
	m.asked = append(m.asked, q.Mark)
	return m.shelf.Search(ctx, q)
}
