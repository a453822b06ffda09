package feed

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// mark is what a notification says of a job, see aw_wake: one of 256. Who may connect to the database can listen to any
// tenant's channel, and is not to learn the ids of its jobs.
func mark(jobID string) string {
	sum := sha256.Sum256([]byte(jobID))
	return hex.EncodeToString(sum[:1])
}

// heard is Written for the jobs that have one of the marks; none: any job.
func (f *Feed) heard(marks []string) {
	if len(marks) == 0 {
		f.Written()
		return
	}
	jobIDs := []string{""} // no job: followers are woken even if none is watched
	f.mu.Lock()
	for id := range f.jobs {
		if slices.Contains(marks, mark(id)) {
			jobIDs = append(jobIDs, id)
		}
	}
	f.mu.Unlock()
	f.Written(jobIDs...)
}
