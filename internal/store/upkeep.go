package store

import "time"

// Collection limits what Collect removes. Ages are by the database's clock.
type Collection struct {
	// SupersededFor is how long the row of a replaced version is kept. Its chunks are removed when it is replaced, or, if they
	// are many, soon after it.
	SupersededFor time.Duration
	// AbandonedFor is how long nobody must have held a job that has not ended, before its staged chunks are removed. If
	// the job goes on after all, it embeds them again.
	AbandonedFor time.Duration
	Limit        int // of rows of each kind
}

// RemovedChunks is the answer to RemoveChunks.
type RemovedChunks struct {
	Removed int  `json:"removed"`
	More    bool `json:"more"` // there may be more
}

// CollectAnswer counts the rows that Collect removed, or made anew.
type CollectAnswer struct {
	Superseded int  `json:"superseded"` // replaced versions
	Staged     int  `json:"staged"`     // abandoned staged versions, with their chunks
	Documents  int  `json:"documents"`  // documents without a version
	Terms      int  `json:"terms"`      // chunks indexed by an earlier version, whose words were counted now
	Chunks     int  `json:"chunks"`     // that commits left to later steps
	More       bool `json:"more"`       // Limit was reached: there may be more
}
