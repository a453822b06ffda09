package devstack

import (
	"context"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// chatty is a store whose jobs have an event.
type chatty struct{ store.Reader }

func (chatty) Events(context.Context, string, int64, int) ([]store.JobEvent, error) {
	return []store.JobEvent{{}}, nil
}

// A terminal gets each event of a job, a log its end alone.
func TestFollowLogsOnlyEnds(t *testing.T) {
	t.Parallel()
	for _, redraws := range []bool{true, false} {
		events := -1
		d := &dev{out: &printer{w: t.Output()}, Options: Options{
			Redraws: redraws,
			Follow: func(ctx context.Context, r store.Reader, ids []string) error {
				got, err := r.Events(ctx, ids[0], 0, 1)
				events = len(got)
				return err
			},
		}}
		if err := d.follow(t.Context(), chatty{}, "a"); err != nil || (events == 1) != redraws || d.out.held {
			t.Errorf("redraws %v: %d events, %v, lines held back: %v", redraws, events, err, d.out.held)
		}
	}
}
