package ingest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A version is provisional if its document was not read as it should be, for a reason that may pass: only in part, or by
// another extractor as a service was down. Then its pipeline begins with how often in a row the same bytes were read so,
// e.g. "provisional=2 native/pdf@1 …", which no extractor's name does. A version that has more than a later reading of its
// bytes stays, and is marked so, too: "provisional=2 whole native/pdf@1 …" if it was complete. It is made again by the next
// ingest, and by the next one of a prefix when it is due. A document that is never read in full would be paid for each
// time: after mostReadings it counts as read, with its warnings.
const (
	provisional  = "provisional="
	whole        = "whole "
	mostReadings = 6

	fallback  = " fallback="
	readAgain = "reads it again" // ends each warning that says when
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
	return n, strings.TrimPrefix(by, whole)
}

// complete reports whether a version has all of its document, whatever a later reading of its bytes had.
func complete(a *store.ActiveVersion) bool {
	n, _ := readings(a)
	_, by, _ := strings.Cut(a.Pipeline, " ")
	return n == 0 || strings.HasPrefix(by, whole)
}

// settled reports whether the version was made by a pipeline and counts as read.
func settled(a *store.ActiveVersion, pipeline string) bool {
	n, by := readings(a)
	return by == pipeline && (n == 0 || n >= mostReadings)
}

// made returns what the version was made by. One that is provisional is made again by the next ingest.
func (w *work) made() string {
	if !w.info.Fallback && !w.info.Incomplete {
		return w.madeBy()
	}
	return w.marked("")
}

// marked is the pipeline of a provisional version, or of one that was kept for being more than this reading.
func (w *work) marked(kept string) string {
	return fmt.Sprintf("%s%d %s%s", provisional, w.nth(), kept, w.madeBy())
}

// madeBy returns what the document was read, chunked and embedded by this time.
func (w *work) madeBy() string {
	if w.info.Fallback {
		return w.pipeline + fallback + w.info.Extractor
	}
	return w.pipeline
}

// nth is the number of this reading of the same bytes by the same means, if it is provisional. One by another extractor
// never counts as read.
func (w *work) nth() int {
	most, n := mostReadings, 1
	if w.info.Fallback {
		most--
	}
	if a := w.staged.Active; a != nil && a.ContentSHA256 == w.file.SHA256 {
		if before, by := readings(a); by == w.madeBy() {
			n += before
		}
	}
	return min(n, most)
}

// prospect says when a provisional version is read again; empty: it is complete.
func (w *work) prospect() string {
	switch {
	case !w.info.Incomplete:
		return ""
	case w.nth() < mostReadings:
		return "it was not read in full for a reason that may pass: " + w.next()
	}
	return fmt.Sprintf("it was read %d times, never in full; %s", mostReadings, w.next())
}

// next says what reads a provisional version again.
func (w *work) next() string {
	if w.nth() < mostReadings {
		return "its next ingest " + readAgain
	}
	return "only an ingest with hints.force " + readAgain
}

// worse reports whether the index has more of the same bytes than this reading, which isn't complete. It doesn't compare with
// what was made by other settings: that must go, e.g. a text without redaction.
func (w *work) worse() bool {
	a := w.staged.Active
	if a == nil || a.ContentSHA256 != w.file.SHA256 || w.info.Characters >= a.Characters {
		return false
	}
	_, by := readings(a)
	return w.sameSettings(by) && (w.info.Incomplete || w.info.Fallback)
}

// sameSettings reports whether what made a version differs from today's pipeline in the extractor at most.
func (w *work) sameSettings(by string) bool {
	extractor, _, _ := strings.Cut(by, settingsBegin)
	return by == extractor+w.settings() || strings.HasPrefix(by, extractor+w.settings()+fallback)
}

// again is what becomes of a version that has more than this reading.
func (w *work) again() *store.Again {
	a := w.staged.Active
	a.Warnings = slices.DeleteFunc(slices.Clone(a.Warnings), func(said string) bool { return strings.HasSuffix(said, readAgain) })
	a.Warnings = append(a.Warnings, "the latest reading has less than an earlier one, which stays in the index: "+w.next())
	kept := ""
	if complete(a) {
		kept = whole
	}
	return &store.Again{Pipeline: w.marked(kept), Warnings: a.Warnings}
}

// spoils returns an error if a part of the document would replace a complete version that has more. Another attempt may read
// all of it; the last one indexes what there is, as does one that may use no more tokens to read pages: so it is with the next.
func (w *work) spoils(ctx context.Context) error {
	a := w.staged.Active
	if a == nil || a.Characters <= w.info.Characters || !complete(a) ||
		!handlers.PartAgain(ctx, w.call, w.info, w.notes.Note(noteExtractor)) {
		return nil
	}
	failure := taskerr.Errorf(taskerr.TransientStorage, "only a part of the document could be read (%s), and the version in the "+
		"index has more; it stays until the last attempt", strings.Join(w.lacks(), "; "))
	failure.Hint = "the machine or docling-serve may be overloaded: lower WORKER_CONCURRENCY, or raise STEP_TIMEOUT_SEC"
	return failure
}
