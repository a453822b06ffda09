package presidio

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/seed-7227ef26/async-worker/internal/privacy/kind"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Supported returns the kinds that the service finds in any of its languages, with our names. Its errors are those of Find.
func (d *Detector) Supported(ctx context.Context) (map[kind.Kind]bool, error) {
	found := map[kind.Kind]bool{}
	for _, language := range d.languages {
		names, err := d.supported(ctx, language)
		if err != nil {
			return nil, taskerr.Blame(taskerr.Privacy, err)
		}
		for _, name := range names {
			k, renamed := kind.OfPresidio(name)
			if !renamed {
				k = kind.Kind(name)
			}
			found[k] = true
		}
	}
	return found, nil
}

func (d *Detector) supported(ctx context.Context, language string) ([]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, d.timeout, errTimeout)
	defer cancel()
	from := d.base.JoinPath("supportedentities")
	from.RawQuery = url.Values{"language": {language}}.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	answer, err := d.send(ctx, req, language)
	if err != nil {
		return nil, err
	}
	var names []string
	if err := json.Unmarshal(answer, &names); err != nil {
		return nil, taskerr.Errorf(taskerr.DependencyUnavailable, "the detector of personal data did not answer with a list of kinds")
	}
	return names, nil
}
