package devstack

import (
	"context"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// follow waits for jobs. On a terminal it redraws their progress, and holds other output; in a log it prints one line
// for each finished job.
func (d *dev) follow(ctx context.Context, reader store.Reader, ids ...string) error {
	if !d.Redraws {
		return d.Follow(ctx, endings{reader}, ids)
	}
	d.out.hold(true)
	defer d.out.hold(false)
	return d.Follow(ctx, reader, ids)
}

// endings is a reader of jobs without their events.
type endings struct{ store.Reader }

// Events implements store.Reader.
func (endings) Events(context.Context, string, int64, int) ([]store.JobEvent, error) { return nil, nil }
