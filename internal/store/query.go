package store

import (
	"encoding/json"
	"errors"
	"time"
)

// MostOperators is how many exclusions, phrases and ORs that differ a Query's Text may have.
const MostOperators = 64

// ErrQuestion means that the Text of a Query has more than MostOperators.
var ErrQuestion = errors.New("the question has too many exclusions, phrases and ORs")

// Query is a hybrid search.
type Query struct {
	Text        string    `json:"text"`
	Embedding   []float32 `json:"-"`
	Limit       int       `json:"limit"`                  // 1-100
	DocumentSet string    `json:"document_set,omitempty"` // empty: all of the tenant's
	Within      *Within   `json:"within,omitempty"`       // nil: all documents
	Explain     bool      `json:"explain,omitempty"`      // hits have Legs
	Mark        string    `json:"mark,omitempty"`         // hits have Marks of it: the PositiveTerms of Text; empty: none have
}

// Within is which documents a search looks in. Zero fields don't narrow it.
type Within struct {
	Metadata Metadata `json:"metadata,omitempty"` // the sender's metadata has these keys and values
	// The date of a document is that of the work if it states one, else that of its file, else when it was ingested.
	From     time.Time `json:"from,omitzero"`      // at or after
	To       time.Time `json:"to,omitzero"`        // at or before, to the second
	Language string    `json:"language,omitempty"` // ISO 639-1 or a BCP 47 tag: en is also en-GB
	// What it leaves out, by ids.
	Except       []string `json:"except,omitempty"` // documents
	ExceptChunks []string `json:"except_chunks,omitempty"`
}

// MarshalJSON writes dates as the properties of documents have them: RFC 3339 in UTC, to the second.
func (w Within) MarshalJSON() ([]byte, error) {
	type plain Within
	w.From, w.To = w.From.UTC().Truncate(time.Second), w.To.UTC().Truncate(time.Second)
	return json.Marshal(plain(w))
}

// Hit is one found chunk, with everything that a citation needs.
type Hit struct {
	ChunkID     string   `json:"chunk_id"`
	DocumentID  string   `json:"document_id"`
	DocumentSet string   `json:"document_set"`
	Filename    string   `json:"filename"`
	Version     int      `json:"version"`
	Content     string   `json:"content"`
	HeadingPath []string `json:"heading_path"`
	Pages       []int    `json:"pages"`
	Boxes       []Box    `json:"boxes,omitempty"`
	Kind        string   `json:"kind"`
	Score       float64  `json:"score"`      // 0 to 1, higher is better; docs/documents.md says what it means
	Similarity  float64  `json:"similarity"` // cosine, -1 to 1; 0 also without a vector of the query or of the chunk
	// it has a word of the query's text; false: only its embedding is near
	Matched bool   `json:"matched"`
	Legs    *Legs  `json:"legs,omitempty"` // with Explain; nil from a database that was not migrated since
	Marks   *Marks `json:"-"`              // with Mark; nil from a database that was not migrated since
}

// Marks is what to mark in a hit's content: see schema/functions/87_marks.sql.
type Marks struct {
	Words   []string `json:"words"`   // that texts in its language have and the search matched, lower case mostly
	Alike   []string `json:"alike"`   // the question's, without stop words; for what has none of Words, by equality or beginning
	Stemmed bool     `json:"stemmed"` // false: the language has no stemmer; Alike is for every text
}

// Legs is what the legs of a search say of a hit, and how they were combined: see schema/functions/87_legs.sql.
type Legs struct {
	Method     string             `json:"method"`            // sum, excess or fusion
	Weights    map[string]float64 `json:"weights"`           // by leg, and by pieces and pairs
	Words      *Leg               `json:"words,omitempty"`   // nil: it is not among the best by words
	Meaning    *Leg               `json:"meaning,omitempty"` // nil: the query has no embedding
	Known      *float64           `json:"known,omitempty"`   // with excess: part of the query's weight whose words any chunk has
	Pieces     *float64           `json:"pieces,omitempty"`  // part of the words whose parts it has, 0 to 1; nil: not compared
	Pairs      *float64           `json:"pairs,omitempty"`   // part of the neighbouring words that are neighbours in it
	Structured bool               `json:"structured"`        // the question has a phrase or OR
	Complete   bool               `json:"complete"`          // it has all that such a question asks for
}

// Leg is the place of a hit in a leg.
type Leg struct {
	Place int     `json:"place"` // from 1; 0: it is not among the best
	Score float64 `json:"score"` // BM25 as a part of what all words, each once, give; or the cosine
	// with excess: the score of the 40th of the leg, above which a score counts
	Base *float64 `json:"base,omitempty"`
}

// Rarity is in how many of the tenant's chunks the words of a question are.
type Rarity struct {
	All float64 `json:"all"` // chunks
	// Words are in lower case; of scripts without spaces they are pairs of characters. How many chunks have one in any of its
	// forms; nil: it is a stop word. Of a question of more than 64 words the shorter ones are missing.
	Words map[string]*float64 `json:"words"`
}
