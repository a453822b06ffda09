package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

const (
	maxSearches = 8               // at a time: each may ask a model and a re-ranker
	searchWait  = 5 * time.Second // for others to end
)

// Question is a search.
type Question struct {
	Query       string         `json:"query" minLength:"1" maxLength:"2000"`
	DocumentSet string         `json:"documentSet,omitempty" maxLength:"256"`
	Metadata    store.Metadata `json:"metadata,omitempty" maxProperties:"50" doc:"Only documents whose metadata has these keys and values; objects and lists may have more."`
	From        *time.Time     `json:"from,omitempty" doc:"Only documents of this time or later: the date of the work, else of its file, else of its ingest."`
	To          *time.Time     `json:"to,omitempty" doc:"Only documents of this time or earlier."`
	Language    string         `json:"language,omitempty" maxLength:"35" doc:"Only documents in this language, ISO 639-1 or BCP 47; en is also en-GB."`
	Limit       int            `json:"limit,omitempty" minimum:"1" maximum:"100" doc:"Default: 10."`
	PerDocument int            `json:"perDocument,omitempty" minimum:"1" maximum:"100" doc:"The maximum number of hits of one document. Default: any number."`
	Expand      int            `json:"expand,omitempty" minimum:"0" maximum:"4" doc:"How many chunks before and after a hit, under its heading, come with it. Default: 0."`
	Explain     bool           `json:"explain,omitempty" doc:"Hits tell why they are in their places."`
	Mode        string         `json:"mode,omitempty" enum:"hybrid" doc:"hybrid: by words and by meaning."`
}

// Answer is what a search found, the best first.
type Answer struct {
	Items  []Hit  `json:"items" nullable:"false"`
	Notice string `json:"notice,omitempty" doc:"What to know of their order, e.g. that the re-ranker failed; left out: nothing."`
}

// Hit is a found chunk.
type Hit struct {
	ChunkID     string       `json:"chunkId"`
	DocumentID  string       `json:"documentId"`
	DocumentSet string       `json:"documentSet"`
	Filename    string       `json:"filename"`
	Version     int          `json:"version"`
	Pages       []int        `json:"pages" nullable:"false"`
	HeadingPath []string     `json:"headingPath" nullable:"false"`
	Content     string       `json:"content"`
	Boxes       []Box        `json:"boxes,omitempty" doc:"Where on the pages, from 0 to 1."`
	Score       float64      `json:"score" doc:"0 to 1, higher is better."`
	Matched     bool         `json:"matched" doc:"It has a word of the query; false: it is only near in meaning."`
	Similarity  *float64     `json:"similarity,omitempty" doc:"Cosine, -1 to 1; left out: it is 0, or there is no vector to compare."`
	Highlights  Highlights   `json:"highlights"`
	AlsoIn      []Copy       `json:"alsoIn,omitempty" doc:"Other documents that say the same in the same words."`
	Before      []Chunk      `json:"before,omitempty" doc:"With expand: what precedes it under its heading. No chunk comes twice."`
	After       []Chunk      `json:"after,omitempty" doc:"With expand: what follows it under its heading."`
	Explanation *Explanation `json:"explanation,omitempty" doc:"With explain."`
}

// Highlights are where a hit has the query's words.
type Highlights struct {
	Marks   [][2]int `json:"marks" nullable:"false" doc:"From and to, in characters (code points) of content, from 0; to is excluded."`
	Excerpt string   `json:"excerpt" doc:"HTML: about 300 characters around the first of them, in <mark>. The rest is escaped."`
}

// Copy is a chunk with the words of a hit.
type Copy struct {
	ChunkID     string `json:"chunkId"`
	DocumentID  string `json:"documentId"`
	DocumentSet string `json:"documentSet"`
	Filename    string `json:"filename"`
	Version     int    `json:"version"`
	Pages       []int  `json:"pages" nullable:"false"`
}

// Explanation is why a hit is in its place.
type Explanation struct {
	Place      int                `json:"place" doc:"Before the re-ranker, and among copies and other hits of its document, from 1."`
	StoreScore float64            `json:"storeScore" doc:"Before the re-ranker."`
	Rate       *float64           `json:"rate,omitempty" doc:"The re-ranker's, 0 to 1; left out: it did not rate this hit."`
	Method     string             `json:"method,omitempty" doc:"How the legs were combined: sum, excess or fusion."`
	Weights    map[string]float64 `json:"weights,omitempty" doc:"Of the legs, of pieces and of pairs."`
	Words      *Leg               `json:"words,omitempty" doc:"By words; left out: it is not among the best."`
	Meaning    *Leg               `json:"meaning,omitempty" doc:"By its vector."`
	Known      *float64           `json:"known,omitempty" doc:"With excess: the part of the question's weight whose words any chunk has."`
	Pieces     *float64           `json:"pieces,omitempty" doc:"The part of the question's words of which it has parts."`
	Pairs      *float64           `json:"pairs,omitempty" doc:"The part of the question's neighbouring words that are neighbours in it."`
	Complete   bool               `json:"complete,omitempty" doc:"It has all that a question with a phrase or OR asks for."`
}

// Leg is a hit's place in one leg of a search.
type Leg struct {
	Place int     `json:"place" doc:"From 1; 0: it is not among the best."`
	Score float64 `json:"score" doc:"BM25 as a part of what all words, each once, give; or the cosine."`
	// With excess.
	Base *float64 `json:"base,omitempty" doc:"The score of the 40th of the leg: what is above it counts."`
}

func hitOf(h search.Hit) Hit {
	out := Hit{
		ChunkID: h.ChunkID, DocumentID: h.DocumentID, DocumentSet: h.DocumentSet, Filename: h.Filename,
		Version: h.Version, Pages: some(h.Pages), HeadingPath: some(h.HeadingPath), Content: h.Content, Score: h.Score,
		Matched:    h.Matched,
		Highlights: Highlights{some(h.Highlights.Marks), h.Highlights.Excerpt}, Explanation: explanationOf(h.Why),
	}
	if h.Similarity != 0 {
		out.Similarity = &h.Similarity
	}
	for _, b := range h.Boxes {
		out.Boxes = append(out.Boxes, Box(b))
	}
	for _, c := range h.AlsoIn {
		out.AlsoIn = append(out.AlsoIn, Copy{c.ChunkID, c.DocumentID, c.DocumentSet, c.Filename, c.Version, some(c.Pages)})
	}
	for _, p := range h.Before {
		out.Before = append(out.Before, chunkOf(p))
	}
	for _, p := range h.After {
		out.After = append(out.After, chunkOf(p))
	}
	return out
}

func explanationOf(w *search.Why) *Explanation {
	if w == nil {
		return nil
	}
	out := &Explanation{Place: w.Place, StoreScore: w.StoreScore, Rate: w.Rate}
	if l := w.Legs; l != nil {
		out.Method, out.Weights, out.Pieces, out.Pairs, out.Complete = l.Method, l.Weights, l.Pieces, l.Pairs, l.Complete
		out.Words, out.Meaning, out.Known = (*Leg)(l.Words), (*Leg)(l.Meaning), l.Known
	}
	return out
}

func (a *API) search(ctx context.Context, in *bodyOf[Question]) (*bodyOf[Answer], error) {
	found, err := a.find(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	out := Answer{Items: []Hit{}, Notice: found.Notice}
	for _, h := range found.Hits {
		out.Items = append(out.Items, hitOf(h))
	}
	return body(out), nil
}

func (a *API) find(ctx context.Context, in Question) (search.Found, error) {
	return a.findIn(ctx, a.reader(ctx), in)
}

func (a *API) findIn(ctx context.Context, s search.Store, in Question) (search.Found, error) {
	q := search.Query{
		Text: strings.TrimSpace(in.Query), DocumentSet: in.DocumentSet, Limit: in.Limit, PerDocument: in.PerDocument,
		Expand: in.Expand, Explain: in.Explain, Within: search.Narrowed(in.Metadata, in.From, in.To, in.Language),
	}
	if q.Text == "" {
		return search.Found{}, invalid("body.query", "has no word; say what to look for")
	}
	if q.Limit == 0 {
		q.Limit = 10
	}
	return a.findFor(ctx, principalFrom(ctx), s, q)
}

// Finder finds for the caller of a mounted handler, within the limits of searches. Its errors may be a *Problem.
func (a *API) Finder(ctx context.Context) func(context.Context, search.Store, search.Query) (search.Found, error) {
	by := principalFrom(ctx)
	return func(ctx context.Context, s search.Store, q search.Query) (search.Found, error) {
		return a.findFor(ctx, by, s, q)
	}
}

// findFor finds for a caller when his limit allows it, and there is room.
func (a *API) findFor(ctx context.Context, by Principal, s search.Store, q search.Query) (search.Found, error) {
	refused := limited(a.limits.searches.take(by.identity()), "too many searches with this token; wait as long as Retry-After says")
	if refused != nil {
		return search.Found{}, refused
	}
	room := time.NewTimer(searchWait)
	defer room.Stop()
	select {
	case a.searches <- struct{}{}:
		defer func() { <-a.searches }()
	case <-ctx.Done():
		return search.Found{}, ctx.Err()
	case <-room.C:
		busy := problem(http.StatusServiceUnavailable, "TOO_MANY_SEARCHES", "too many searches are being made; try again later")
		busy.retryAfter = time.Second
		return search.Found{}, busy
	}
	return a.deps.Search(ctx, s, q)
}
