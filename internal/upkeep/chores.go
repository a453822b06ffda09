package upkeep

import (
	"context"
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

const (
	every = 6 * time.Hour
	daily = 24 * time.Hour
	batch = 200 // rows of a kind in one transaction

	// abandonedFor is for how long what a job has staged is kept for it, when nobody holds the job: an outage may
	// last, and the job would pay for it again.
	abandonedFor = 7 * 24 * time.Hour

	// readingsFor is how long what OCR read of a page is kept: for retries and replays of the next weeks.
	readingsFor = 30 * 24 * time.Hour

	// partialsFor is how long a model's answers to the parts of a document are kept: for its next versions.
	partialsFor = 30 * 24 * time.Hour

	// answersFor is how long an answer of the gateway is kept after it was last used.
	answersFor = 30 * 24 * time.Hour

	// mostFailures in a row mean that the container does not answer, or that the worker may not remove its blobs.
	mostFailures = 10

	// keysFor is longer than a key is remembered.
	keysFor = 48 * time.Hour
)

// Documents removes versions of documents that were replaced longer than keep ago, what abandoned jobs have staged,
// and documents that never had a version. It counts the words of documents that an earlier version indexed.
func Documents(s store.Upkeep, keep time.Duration) Chore {
	return Chore{Name: "old versions of documents", Every: every, Do: func(ctx context.Context) (int, bool, error) {
		c, err := s.Collect(ctx, store.Collection{SupersededFor: keep, AbandonedFor: abandonedFor, Limit: batch})
		return c.Superseded + c.Staged + c.Documents + c.Terms + c.Chunks, c.More, err
	}}
}

// Chunks removes the chunks that commits left because they were many, soon after due was sent to. What it misses is left
// to Documents.
func Chunks(s store.Upkeep, due <-chan struct{}) Chore {
	return Chore{Name: "chunks of replaced versions", Every: every, Due: due, Do: func(ctx context.Context) (int, bool, error) {
		r, err := s.RemoveChunks(ctx, batch)
		return r.Removed, r.More, err
	}}
}

// Readings removes what OCR read of pages a month ago.
func Readings(s store.Pages) Chore {
	return Chore{Name: "what OCR has read of pages", Every: every, Do: func(ctx context.Context) (int, bool, error) {
		n, err := s.ExpirePageResults(ctx, readingsFor, batch)
		return n, n == batch, err
	}}
}

// Keys removes the idempotency keys of requests that nobody repeats any more.
func Keys(s store.Submissions) Chore {
	return Chore{Name: "idempotency keys", Every: every, Do: func(ctx context.Context) (int, bool, error) {
		n, err := s.ForgetKeys(ctx, keysFor, batch)
		return n, n == batch, err
	}}
}

// Partials removes what a model answered to parts of documents a month ago.
func Partials(s store.Summaries) Chore {
	return Chore{
		Name: "answers of models to parts of documents", Every: every,
		Do: func(ctx context.Context) (int, bool, error) {
			n, err := s.ExpirePartials(ctx, partialsFor, batch)
			return n, n == batch, err
		},
	}
}

// Answers removes answers of the gateway that nobody has used for a month. remove removes the blobs of one, those that
// no row names, too; it returns nil if they are gone already. One that can't be removed holds up no other; after
// mostFailures in a row the container does not answer.
func Answers(s store.Answers, remove func(context.Context, store.ExpiredAnswer) error) Chore {
	return Chore{Name: "answers of the gateway", Every: every, Do: func(ctx context.Context) (int, bool, error) {
		old, err := s.ExpireAnswers(ctx, answersFor, batch)
		if err != nil || len(old) == 0 {
			return 0, false, err
		}
		var gone []store.ExpiredAnswer
		for failures := 0; len(old) > 0 && failures < mostFailures; old = old[1:] {
			failed := remove(ctx, old[0])
			if failures++; failed == nil {
				gone, failures = append(gone, old[0]), 0
			}
			err = errors.Join(err, failed)
		}
		n, forgotten := s.ForgetAnswers(ctx, gone)
		return n, len(gone) == batch, errors.Join(err, forgotten)
	}}
}
