package store

// DerivedQuery asks what was derived from a document before.
type DerivedQuery struct {
	JobID          string `json:"job_id"`
	SourceFilename string `json:"source_filename"`
	SourceSHA256   string `json:"source_sha256"`
	Recipe         string `json:"recipe"`
}

// DerivedAnswer is the answer to Derived.
type DerivedAnswer struct {
	OfJob int             `json:"of_job"` // number of contents of the job; more than one after a forced message
	Same  *DerivedContent `json:"same"`   // the newest one from the same bytes by the same recipe; nil: none
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
}

// EffectRecordDerived records the next version of a document's derived content. Its args are a DerivedRecord.
const EffectRecordDerived = "record_derived_content"

// DerivedRecord are the arguments of EffectRecordDerived.
type DerivedRecord struct {
	SourceFilename string   `json:"source_filename"`
	SourceBlob     string   `json:"source_blob"`
	SourceSHA256   string   `json:"source_sha256"`
	Recipe         string   `json:"recipe"` // engine, languages, pages and options
	Blob           string   `json:"blob"`   // uploaded before
	Format         string   `json:"format"`
	Engine         string   `json:"engine"`
	PageCount      int      `json:"page_count"`
	MeanConfidence *float64 `json:"mean_confidence"`
	UnreadPages    []int    `json:"unread_pages"`
}
