package ingest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A version is provisional if its document was not read as it should be, for a reason that may pass: only in part, or by
// another extractor as a service was down. Then its pipeline begins with how often in a row the same bytes were read so,
// e.g. "provisional=2 native/pdf@1 …", which no extractor's name does. It is made again by the next ingest, and by the next
// one of a prefix when it is due. A document that is never read in full would be paid for each time: after mostReadings it
// counts as read, with its warnings.
const (
	provisional  = "provisional="
	mostReadings = 6
)

// due reports whether a prefix submits a document again that was read provisionally so often, and last this long ago.
func due(readings int, ago time.Duration) bool {
	for n, after := range [mostReadings - 1]time.Duration{0, time.Hour, 6 * time.Hour, 24 * time.Hour, 96 * time.Hour} {
		if n+1 == readings {
			return ago >= after
		}
	}
	return false
}

// readings returns how often in a row the same bytes were read provisionally, and what by; 0: the version is complete.
func readings(a *store.ActiveVersion) (n int, by string) {
	rest, marked := strings.CutPrefix(a.Pipeline, provisional)
	count, by, ok := strings.Cut(rest, " ")
	n, err := strconv.Atoi(count)
	if !marked || !ok || err != nil || n < 1 {
		return 0, a.Pipeline
	}
	return n, by
}

// settled reports whether the version was made by a pipeline and counts as read.
func settled(a *store.ActiveVersion, pipeline string) bool {
	n, by := readings(a)
	return by == pipeline && (n == 0 || n >= mostReadings)
}

// made returns what the version was made by. One that is provisional is made again by the next ingest.
func (w *work) made() string {
	by := w.pipeline
	if w.info.Fallback {
		by += " fallback=" + w.info.Extractor
	} else if !w.info.Incomplete {
		return by
	}
	return fmt.Sprintf("%s%d %s", provisional, w.nth(), by)
}

// nth is the number of this reading of the same bytes, if it is provisional.
func (w *work) nth() int {
	n := 0
	if a := w.staged.Active; a != nil && a.ContentSHA256 == w.file.SHA256 {
		n, _ = readings(a)
	}
	return min(n+1, mostReadings)
}

// spoils returns an error if a part of the document would replace a complete version that has more. Another attempt may read
// all of it; the last one indexes what there is.
func (w *work) spoils() error {
	a := w.staged.Active
	if !w.info.Incomplete || w.call.Last || a == nil || a.Characters <= w.info.Characters {
		return nil
	}
	if n, _ := readings(a); n > 0 {
		return nil
	}
	w.notes.Note(noteExtractor).Save(struct{}{}) // of a service: it would have the same part again
	failure := taskerr.Errorf(taskerr.TransientStorage, "only a part of the document could be read (%s), and the version in the "+
		"index has more; it stays until the last attempt", strings.Join(w.lacks(), "; "))
	failure.Hint = "the machine or docling-serve may be overloaded: lower WORKER_CONCURRENCY, or raise STEP_TIMEOUT_SEC"
	return failure
}
