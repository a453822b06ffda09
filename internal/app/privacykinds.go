package app

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/privacy/kind"
	"github.com/seed-7227ef26/async-worker/internal/privacy/presidio"
)

// notFound returns the listed kinds that neither the worker's patterns nor the detector find. Findings of other kinds are
// not redacted, so a kind that nothing finds leaves its personal data in the text.
func notFound(ctx context.Context, d *presidio.Detector, listed []string) ([]string, error) {
	var others []string
	for _, k := range listed {
		if !slices.Contains(kind.Patterns(), privacy.Kind(k)) {
			others = append(others, k)
		}
	}
	if len(others) == 0 {
		return nil, nil
	}
	found, err := d.Supported(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(others, func(k string) bool { return found[privacy.Kind(k)] }), nil
}

// kindCheck warns once of kinds of PII_KINDS that nothing finds. A detector that is down at the start is asked when it is
// probed, before tasks go on.
type kindCheck struct {
	log      *slog.Logger
	detector *presidio.Detector
	listed   []string
	done     atomic.Bool
}

// maxKindCheck limits how long the check delays a start or a reload.
const maxKindCheck = 5 * time.Second

func (c *kindCheck) run(ctx context.Context) {
	if c.done.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, maxKindCheck)
	defer cancel()
	missing, err := notFound(ctx, c.detector, c.listed)
	if err != nil {
		c.log.Warn("the detector of personal data does not tell which kinds it finds", "error", err)
		return
	}
	c.done.Store(true)
	if len(missing) > 0 {
		c.log.Warn("nothing finds some kinds of PII_KINDS: such personal data stay in the text", "kinds", strings.Join(missing, ","),
			"hint", "correct PII_KINDS, or add recognizers to the analyzer at PII_DETECTOR_URL")
	}
}
