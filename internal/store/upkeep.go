package store

import "time"

// Collection says what a Collect may remove, by the database's clock.
type Collection struct {
	// SupersededFor is for how long the row of a version that was replaced is kept. Its chunks went when it was.
	SupersededFor time.Duration
	// AbandonedFor is how long ago a job that is not over must have been held for the last time, for what it has
	// staged to be given up. It would have to embed that again, should it go on after all.
	AbandonedFor time.Duration
	Limit        int // of what is removed of each kind
}

// CollectAnswer is how many rows a Collect removed.
type CollectAnswer struct {
	Superseded int  `json:"superseded"` // versions that were replaced
	Staged     int  `json:"staged"`     // versions that were staged and abandoned, with their chunks
	Documents  int  `json:"documents"`  // that had no version
	More       bool `json:"more"`       // Limit was reached: there may be more
}
