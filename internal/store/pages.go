package store

// PageResult is what OCR read of a page, in the encoding of whoever keeps it.
type PageResult struct {
	Page    int    `json:"page"`    // from 1
	Reading []byte `json:"reading"` // at most MaxReading bytes
}

// MaxReading bounds a PageResult's reading, in bytes.
const MaxReading = 256 << 10

// PageSource names what was read, and by what.
type PageSource struct {
	Source string `json:"source"` // hash of the document's bytes
	Reader string `json:"reader"` // the engine with its version and options
	// JobID is who reads, or asks for what is read: with its cancel goes what was read for it alone. Empty: nobody
	// whose cancel takes anything along.
	JobID string `json:"job_id,omitempty"`
}
