package api

import (
	"context"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/replay"
)

// copiesLimit is for one search of the queue of dead letters.
const copiesLimit = 20 * time.Second

// removeCopies takes the copies of dead letters off their queue, where they would stay for good, with the whole messages.
// What can't be removed holds up nobody: the rows are authoritative.
func (a *API) removeCopies(ctx context.Context, letters ...string) {
	if len(letters) == 0 {
		return
	}
	log := a.deps.Log.With("queue", a.deps.DeadLetters.Name())
	if !a.copies.do(ctx, copiesLimit, func(ctx context.Context) {
		copies, err := replay.RemoveCopies(ctx, a.deps.DeadLetters, letters)
		switch {
		case err != nil:
			log.Warn("the queue could not be searched for the copies of dead letters; they stay on it", "copies", copies.Left,
				"error", err)
		case copies.Left > 0:
			log.Info("copies of dead letters were not found on the queue; they were removed before, or stay on it",
				"copies", copies.Left)
		}
	}) {
		log.Warn("the queue was not searched for the copies of dead letters, because it is slow; they stay on it",
			"copies", len(letters))
	}
}
