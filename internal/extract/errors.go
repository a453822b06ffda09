package extract

import "github.com/seed-7227ef26/async-worker/internal/taskerr"

// TooManyCharacters is the error of a document whose text exceeds Limits.Characters.
func TooManyCharacters(limit int) *taskerr.Error {
	return taskerr.Errorf(taskerr.QuotaExceeded,
		"the document has more than %d characters of text: split it into smaller files", limit)
}

// TooLarge is the error of a file of more than limit bytes.
func TooLarge(size, limit int64) *taskerr.Error {
	return taskerr.Errorf(taskerr.QuotaExceeded,
		"the file has %d MB, more than the %d MB that are read: split it into smaller files", size>>20, limit>>20)
}
