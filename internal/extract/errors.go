package extract

import "github.com/seed-7227ef26/async-worker/internal/job"

// TooManyCharacters is the error of a document whose text goes over Limits.Characters.
func TooManyCharacters(limit int) *job.Error {
	return job.Errorf(job.QuotaExceeded,
		"the document has more than %d characters of text: split it into smaller files", limit)
}

// TooLarge is the error of a file of more than limit bytes.
func TooLarge(size, limit int64) *job.Error {
	return job.Errorf(job.QuotaExceeded,
		"the file has %d MB, more than the %d MB that are read: split it into smaller files", size>>20, limit>>20)
}
