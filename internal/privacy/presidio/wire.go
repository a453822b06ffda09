package presidio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/privacy/kind"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// question is the body of POST /analyze. Since version 2.2.361 a list of texts is answered with a list.
type question struct {
	Text     []string `json:"text"`
	Language string   `json:"language"`
	MinScore float64  `json:"score_threshold"`
}

// entity is a finding. Start and end are in Unicode code points, as in Python.
type entity struct {
	Type  string  `json:"entity_type"`
	Start int     `json:"start"`
	End   int     `json:"end"`
	Score float64 `json:"score"`
}

// maxAnswer limits the response that is read, in bytes.
const maxAnswer = 16 << 20

// errTimeout is the cause of the end of a request that took too long.
var errTimeout = errors.New("the request took too long")

func (d *Detector) request(ctx context.Context, batch []piece, language string) ([][]entity, error) {
	q := question{Text: make([]string, len(batch)), Language: language, MinScore: min(d.minScore, phoneScore)}
	for i, p := range batch {
		q.Text[i] = p.text
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("write a question for the detector: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d.timeout, errTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.base.JoinPath("analyze").String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("make a request: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := d.send(ctx, req, language)
	if err != nil {
		return nil, err
	}
	var found [][]entity
	if err := json.Unmarshal(answer, &found); err != nil || len(found) != len(batch) {
		return nil, &taskerr.Error{
			Class:   taskerr.DependencyUnavailable,
			Message: "the detector of personal data did not answer with findings",
			Hint:    "check that PII_DETECTOR_URL is a presidio-analyzer of version 2.2.361 or newer",
		}
	}
	return found, nil
}

// send returns the body of the answer to a request that is about a language.
func (d *Detector) send(ctx context.Context, req *http.Request, language string) ([]byte, error) {
	resp, err := d.client.Do(req)
	if err != nil {
		return nil, d.transport(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }() // read-only
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, d.transport(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, refused(resp.StatusCode, language)
	}
	return answer, nil
}

// transport classifies connection errors.
func (d *Detector) transport(ctx context.Context, err error) error {
	var network net.Error
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeout), cause == nil && errors.As(err, &network) && network.Timeout():
		return &taskerr.Error{
			Class:   taskerr.NetworkTimeout,
			Message: fmt.Sprintf("the detector of personal data did not answer within %v", d.timeout), Cause: err,
		}
	case cause != nil:
		return cause
	}
	if redirect, ok := errors.AsType[*httpurl.RedirectError](err); ok {
		return taskerr.Errorf(taskerr.DependencyUnavailable, "the detector of personal data: %w", redirect)
	}
	return &taskerr.Error{
		Class: taskerr.DependencyUnavailable, Cause: err,
		Message: "the detector of personal data could not be reached, or the connection to it broke",
		Hint:    "check that the presidio-analyzer at PII_DETECTOR_URL is running",
	}
}

// refused classifies an error response. The service's own message is dropped, because it may quote the text.
func refused(status int, language string) error {
	e := taskerr.Errorf(taskerr.DependencyUnavailable, "the detector of personal data failed (HTTP %d)", status)
	switch {
	case status == http.StatusInternalServerError: // Presidio also returns it for an unknown language, or for lists
		e.Hint = fmt.Sprintf("see the log of the presidio-analyzer: it must support the language %q "+
			"(PII_DETECTOR_LANGUAGES) and have version 2.2.361 or newer", language)
	case status == http.StatusNotFound || status < http.StatusBadRequest:
		e.Hint = "check PII_DETECTOR_URL: there is no presidio-analyzer"
	}
	return e
}

// place converts the findings in a piece to ranges of its text, in bytes, without those that have too low a score.
func (p piece) place(found []entity, least func(privacy.Kind) float64) ([]privacy.Finding, error) {
	if len(found) == 0 {
		return nil, nil
	}
	var bytesAt []int // by rune
	for i := range p.text {
		bytesAt = append(bytesAt, i)
	}
	bytesAt = append(bytesAt, len(p.text))
	findings := make([]privacy.Finding, 0, len(found))
	for _, e := range found {
		if e.Start < 0 || e.Start >= e.End || e.End >= len(bytesAt) || !isKind(e.Type) {
			return nil, taskerr.Errorf(taskerr.DependencyUnavailable,
				"the detector of personal data returned a range outside of the text, or an invalid kind")
		}
		k, renamed := kind.OfPresidio(e.Type)
		if !renamed {
			k = kind.Kind(e.Type)
		}
		if e.Score < least(k) {
			continue
		}
		findings = append(findings, privacy.Finding{
			Kind: k, Start: p.at + bytesAt[e.Start], End: p.at + bytesAt[e.End], Score: e.Score,
		})
	}
	return findings, nil
}

// isKind reports whether a kind is safe to write into the text and the index.
func isKind(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, c := range name {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
