package devstack

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// follow waits for jobs. On a terminal their progress is redrawn, and nothing else may be printed meanwhile; in a log
// each job is one line, its end.
func (d *dev) follow(ctx context.Context, reader store.Reader, ids ...string) error {
	if !d.Redraws {
		return d.Follow(ctx, endings{reader}, ids)
	}
	d.out.hold(true)
	defer d.out.hold(false)
	return d.Follow(ctx, reader, ids)
}

// endings is a reader that tells how jobs are, and nothing of their way there.
type endings struct{ store.Reader }

// Events implements store.Reader.
func (endings) Events(context.Context, string, int64, int) ([]store.JobEvent, error) { return nil, nil }
