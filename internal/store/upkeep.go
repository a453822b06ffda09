package store

import "time"

// Collection says what a Collect may remove, by the database's clock.
type Collection struct {
	// SupersededFor is how long the row of a replaced version is kept. Its chunks are removed when it is replaced.
	SupersededFor time.Duration
	// AbandonedFor is how long a job that has not ended must not have been held before its staged version is removed.
	// If the job runs again, it embeds the chunks again.
	AbandonedFor time.Duration
	Limit        int // number of rows of each kind
}

// CollectAnswer is how many rows a Collect removed.
type CollectAnswer struct {
	Superseded int  `json:"superseded"` // replaced versions
	Staged     int  `json:"staged"`     // staged versions of abandoned jobs, with their chunks
	Documents  int  `json:"documents"`  // documents without a version
	More       bool `json:"more"`       // Limit was reached: there may be more rows
}
