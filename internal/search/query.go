package search

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// MaxExpand is the largest Query.Expand.
const MaxExpand = 4

// Query is what a caller asks.
type Query struct {
	Text        string
	DocumentSet string        // empty: all of the tenant's
	Within      *store.Within // nil: all documents
	Limit       int           // 1-100
	PerDocument int           // the maximum number of hits of one document; 0: any number
	Expand      int           // how many chunks under its heading come with a hit, before and after it each; 0-MaxExpand
	Explain     bool          // hits have a Why
	Unmarked    bool          // hits have no Highlights, for a caller that shows none
}

// InvalidError says what is wrong with a Query, and what to do.
type InvalidError struct {
	Field           string // query, from
	Problem, Remedy string // without a value of the query's
}

func (e *InvalidError) Error() string { return e.Field + " " + e.Problem + "; " + e.Remedy }

// Check returns an *InvalidError if nothing can be found.
func (q Query) Check() error {
	if w := q.Within; w != nil && !w.To.IsZero() && w.From.After(w.To) {
		return &InvalidError{"from", "is later than to", "swap them, or leave one out"}
	}
	return nil
}

// tooComplex is an InvalidError in place of store.ErrQuestion.
func tooComplex(err error) error {
	if errors.Is(err, store.ErrQuestion) {
		return &InvalidError{
			"query", fmt.Sprintf("has more than %d exclusions, phrases and ORs", store.MostOperators),
			"leave some out, or ask several questions",
		}
	}
	return err
}

// Narrowed is a Query's Within; nil if nothing narrows it.
func Narrowed(metadata store.Metadata, from, to *time.Time, language string) *store.Within {
	w := store.Within{Metadata: metadata, Language: strings.TrimSpace(language)}
	if from != nil {
		w.From = written(*from)
	}
	if to != nil {
		w.To = written(*to)
	}
	if len(metadata) == 0 && w.From.IsZero() && w.To.IsZero() && w.Language == "" {
		return nil
	}
	return &w
}

// written is a time, or the nearest one that RFC 3339 can write in UTC: a zone may put it before the year 0 or after 9999.
func written(t time.Time) time.Time {
	switch t = t.UTC(); {
	case t.IsZero():
		return t
	case t.Year() < 0:
		return time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case t.Year() > 9999:
		return time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	return t
}

// Found is the result of a search.
type Found struct {
	Hits   []Hit
	Notice string // what a reader should know of their order; empty: nothing
}

// Hit is a hit, with what was asked for.
type Hit struct {
	store.Hit
	AlsoIn     []Copy          `json:"also_in,omitempty"`     // other documents that say the same in the same words
	Before     []store.Passage `json:"before,omitempty"`      // with Expand: what precedes it under its heading
	After      []store.Passage `json:"after,omitempty"`       // with Expand: what follows it
	Highlights Highlight       `json:"highlights"`            // of the query's words
	Why        *Why            `json:"explanation,omitempty"` // with Explain

	marker Marker
}

// Excerpt is Highlights.Excerpt with other lengths: see Marker.Excerpt.
func (h Hit) Excerpt(most, before int) string { return h.marker.Excerpt(h.Content, most, before) }

// Copy is a chunk with the words of a hit.
type Copy struct {
	ChunkID     string `json:"chunk_id"`
	DocumentID  string `json:"document_id"`
	DocumentSet string `json:"document_set"`
	Filename    string `json:"filename"`
	Version     int    `json:"version"`
	Pages       []int  `json:"pages"`
}

// Why is why a hit is in its place.
type Why struct {
	Place      int         `json:"place"`          // among the store's hits, from 1; of a search that was filled up, of its last part
	StoreScore float64     `json:"store_score"`    // before the re-ranker
	Rate       *float64    `json:"rate,omitempty"` // the re-ranker's; nil: it rated nothing, or not this hit
	Legs       *store.Legs `json:"legs,omitempty"`
}
