package engine_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// closedBucket is a container that answers each read with an error.
type closedBucket struct {
	blob.Bucket
	err error
}

func (b closedBucket) Open(context.Context, string) (blob.Properties, io.ReadCloser, error) {
	return blob.Properties{}, nil, b.err
}

// A claim check whose blob can't be read waits for a day, and is then dead-lettered: nothing comes back for ever.
func TestUnreadableClaimCheck(t *testing.T) {
	for class, err := range map[taskerr.Class]error{
		taskerr.TransientStorage:      errDown,
		taskerr.DependencyUnavailable: errors.New("the account has no role for this container"),
	} {
		inWorld(t, func(w *world) {
			w.bucket = closedBucket{err: err}
			w.start(done)
			w.send(w.queues.Normal, `{"task_id":"t1","task_type":"test","claim_check":{"blob":"tasks/t1.json"}}`)
			w.settled(23 * time.Hour)
			w.expectDepth(w.queues.Normal, 1)
			w.settled(2 * time.Hour)
			w.expectDepth(w.queues.Normal, 0)
			if env := w.expectBuried(string(class)); env.TaskID != "t1" || env.Original == "" {
				t.Errorf("the envelope is %+v", env)
			}
		})
	}
}
