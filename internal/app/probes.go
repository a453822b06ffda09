package app

import (
	"context"
	"errors"
	"maps"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/engine"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// probe registers the probe of a dependency.
func (t *Tenant) probe(d taskerr.Dependency, ask engine.Probe) {
	if t.probed == nil {
		t.probed = engine.Probes{}
	}
	t.probed[d] = ask
}

// probes returns the probes of everything that handlers need: what was opened for them, the store and the container.
func (t *Tenant) probes() engine.Probes {
	all := maps.Clone(t.probed)
	if all == nil {
		all = engine.Probes{}
	}
	all[taskerr.Database] = t.Store.Check
	all[taskerr.Storage] = func(ctx context.Context) error {
		_, err := t.Bucket.Stat(ctx, "probe") // whether a blob of this name exists doesn't matter
		if errors.Is(err, blob.ErrNotFound) {
			return nil
		}
		return err
	}
	return all
}
