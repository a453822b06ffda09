package store

// PageResult is the OCR result of a page, in the caller's encoding.
type PageResult struct {
	Page    int    `json:"page"`    // from 1
	Reading []byte `json:"reading"` // at most MaxReading bytes
}

// MaxReading bounds a PageResult's reading, in bytes.
const MaxReading = 256 << 10

// PageSource names a document and its reader.
type PageSource struct {
	Source string `json:"source"` // hash of the document's bytes
	Reader string `json:"reader"` // the engine with its version and options
	// JobID is the job that reads. If it is canceled, the results that it alone uses are removed. Empty: none is
	// removed by a cancel.
	JobID string `json:"job_id,omitempty"`
}
