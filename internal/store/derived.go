package store

import "slices"

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
	Blobs []string        `json:"blobs"`  // of these contents
	Same  *DerivedContent `json:"same"`   // the newest of the same bytes by the same recipe; nil: none
}

// NewBlob returns a name for another content of the job that none of its contents has. name gives the n-th, from 1. The
// number alone would not do: contents of documents that were deleted are not counted any more.
func (a DerivedAnswer) NewBlob(name func(n int) string) string {
	for n := a.OfJob + 1; ; n++ {
		if s := name(n); !slices.Contains(a.Blobs, s) {
			return s
		}
	}
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
