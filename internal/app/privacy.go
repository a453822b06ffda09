package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/privacy/presidio"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// openPrivacy returns the filter for personal data; nil when PII_MODE is off.
func (t *Tenant) openPrivacy(ctx context.Context) (*privacy.Filter, error) {
	c := t.Config.PII
	if c.Mode == string(privacy.Off) {
		return nil, nil //nolint:nilnil // a nil Filter changes nothing
	}
	detectors := []privacy.Detector{privacy.Patterns{}}
	if c.DetectorURL != "" {
		external, err := openDetector(t.Config)
		if err != nil {
			return nil, err
		}
		t.closers = append(t.closers, external.Close)
		kinds := &kindCheck{log: t.log, detector: external, listed: c.Kinds}
		t.probe(taskerr.Privacy, func(ctx context.Context) error {
			if err := probeDetector(ctx, external); err != nil {
				return err
			}
			kinds.run(ctx)
			return nil
		})
		kinds.run(ctx)
		detectors = append(detectors, external)
	}
	options := privacy.Options{
		Mode: privacy.Mode(c.Mode), Detector: privacy.All(detectors...),
		Language: func(text string) string { return enrich.Detect(text).Code },
	}
	for _, kind := range c.Kinds {
		options.Kinds = append(options.Kinds, privacy.Kind(kind))
	}
	filter := privacy.NewFilter(options)
	kinds := "all that identify a person"
	if len(c.Kinds) > 0 {
		kinds = strings.Join(c.Kinds, ",")
	}
	t.log.Info("text is searched for personal data before it goes to the model", "mode", c.Mode, "detector",
		filter.DetectorVersion(), "kinds", kinds)
	return filter, nil
}

// openDetector opens the service at PII_DETECTOR_URL.
func openDetector(c config.Config) (*presidio.Detector, error) {
	d, err := presidio.New(presidio.Config{
		URL: c.PII.DetectorURL, Languages: c.PII.DetectorLanguages, Timeout: c.StepTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("open the detector of personal data: %w", err)
	}
	return d, nil
}

func probeDetector(ctx context.Context, d *presidio.Detector) error {
	_, err := d.Find(ctx, []string{"probe"}, "")
	return err
}
