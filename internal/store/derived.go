package store

// DerivedQuery is a query for what was derived from a document before.
type DerivedQuery struct {
	JobID          string `json:"job_id"`
	SourceFilename string `json:"source_filename"`
	SourceSHA256   string `json:"source_sha256"`
	Recipe         string `json:"recipe"`
}

// DerivedAnswer is the answer to Derived.
type DerivedAnswer struct {
	OfJob int             `json:"of_job"` // number of contents of the job; more than one after a forced run
	Same  *DerivedContent `json:"same"`   // the newest of the same bytes by the same recipe; nil: none
}

// DerivedContent is a row of derived_contents.
type DerivedContent struct {
	ID             string   `json:"id"`
	Blob           string   `json:"blob"`
	Version        int      `json:"version"`
	Format         string   `json:"format"`
	Engine         string   `json:"engine"`
	PageCount      int      `json:"page_count"`
	MeanConfidence *float64 `json:"mean_confidence"` // 0-1; nil: the engine has none
	UnreadPages    []int    `json:"unread_pages"`
	Warnings       []string `json:"warnings"` // of the result of the job that made it; nil: it has none, or is gone
}

// EffectRecordDerived records a derived document as the next version of its kind; its args are a DerivedRecord.
const EffectRecordDerived = "record_derived_content"

// DerivedRecord are the arguments of EffectRecordDerived.
type DerivedRecord struct {
	SourceFilename string   `json:"source_filename"`
	SourceBlob     string   `json:"source_blob"`
	SourceSHA256   string   `json:"source_sha256"`
	Recipe         string   `json:"recipe"` // its engine, languages, pages and options
	Blob           string   `json:"blob"`   // uploaded already
	Format         string   `json:"format"`
	Engine         string   `json:"engine"`
	PageCount      int      `json:"page_count"`
	MeanConfidence *float64 `json:"mean_confidence"`
	UnreadPages    []int    `json:"unread_pages"`
}
