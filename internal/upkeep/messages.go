package upkeep

import (
	"context"
	"errors"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/message"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Messages removes the blobs with messages that were too large for a queue, when they are older than keep and neither
// the job nor a dead letter of it is left. The job's row is there before its message is on a queue, but for one that was
// replaced while its type was at its limit, and stays while it may be sent; keep is longer than such a message, or one that
// was sent twice, stays on its queue. Blobs that senders wrote are left.
func Messages(s store.Reader, bucket blob.Bucket, keep time.Duration) Chore {
	return Chore{Name: "messages in blobs", Every: daily, Do: func(ctx context.Context) (removed int, _ bool, failed error) {
		failures := 0
		for b, err := range bucket.List(ctx, blob.MessageFolder) {
			if err != nil {
				return removed, false, errors.Join(failed, err)
			}
			job, ours := message.JobOf(b.Name)
			if !ours || time.Since(b.ModifiedAt) < keep {
				continue
			}
			began := time.Now()
			gone, err := forgotten(ctx, s, job)
			if err != nil {
				return removed, false, errors.Join(failed, err)
			}
			if gone {
				switch err := bucket.Remove(ctx, b.Name); {
				case err == nil:
					removed, failures = removed+1, 0
				case !errors.Is(err, blob.ErrNotFound): // another worker was first
					failed = errors.Join(failed, err)
					failures++
				}
			}
			if failures == mostFailures || retry.Sleep(ctx, min(restShare*time.Since(began), mostRest)) != nil {
				break
			}
		}
		return removed, false, failed
	}}
}

// forgotten reports whether the store has neither the job nor a dead letter of it, not even one that was replayed.
func forgotten(ctx context.Context, s store.Reader, job string) (bool, error) {
	if _, err := s.Job(ctx, job); !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	letters, err := s.DeadLetters(ctx, store.DeadLetterFilter{JobID: job, Brief: true, Limit: 1})
	return err == nil && len(letters) == 0, err
}
