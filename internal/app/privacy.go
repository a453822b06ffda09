package app

import (
	"context"
	"fmt"

	"github.com/seed-7227ef26/async-worker/internal/enrich"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/privacy/presidio"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// openPrivacy returns the filter for personal data; nil when PII_MODE is off.
func (t *Tenant) openPrivacy() (*privacy.Filter, error) {
	c := t.Config.PII
	if c.Mode == string(privacy.Off) {
		return nil, nil //nolint:nilnil // a nil Filter changes nothing
	}
	detectors := []privacy.Detector{privacy.Patterns{}}
	if c.DetectorURL != "" {
		external, err := presidio.New(presidio.Config{
			URL: c.DetectorURL, Languages: c.DetectorLanguages, Timeout: t.Config.StepTimeout,
		})
		if err != nil {
			return nil, fmt.Errorf("open the detector of personal data: %w", err)
		}
		t.closers = append(t.closers, external.Close)
		t.probe(taskerr.Privacy, func(ctx context.Context) error {
			_, err := external.Find(ctx, []string{"probe"}, "")
			return err
		})
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
	t.log.Info("text is searched for personal data before it goes to the model", "mode", c.Mode, "detector",
		filter.DetectorVersion())
	return filter, nil
}
