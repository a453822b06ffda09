// Package presidio finds personal data with Microsoft Presidio's analyzer, a service that the operator runs. It
// recognizes names and places with a language model (https://microsoft.github.io/presidio).
package presidio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// Defaults of Config.
const (
	DefaultLanguage = "en"
	DefaultTimeout  = 30 * time.Second
	// DefaultMinScore excludes findings that Presidio itself doubts: for example, it scores a possible driving
	// license 0.01.
	DefaultMinScore = 0.5
)

// phoneScore is the score that Presidio's PhoneRecognizer gives each number, after its check by libphonenumber, unless a
// word such as "phone" is beside it. Numbers count from it on, although MinScore is higher.
const phoneScore = 0.4

// Limits of one request: texts, and characters. A longer text is sent in overlapping pieces, so that a finding
// across the end of one is complete in the next.
const (
	maxTexts   = 500 // Presidio's own batch
	maxRunes   = 50_000
	pieceRunes = 20_000
	overlap    = 200
)

// retryPolicy is the retry policy within the timeout of one request, which changes nothing in the service.
var retryPolicy = retry.HTTP{
	Policy: retry.Policy{
		Backoff: retry.Backoff{First: 500 * time.Millisecond, Max: 2 * time.Second, Jitter: 0.25}, Tries: 3,
	},
	MaxAfter: 5 * time.Second,
}

// Config describes the service. Zero fields take the default.
type Config struct {
	URL       string        // PII_DETECTOR_URL, for example http://localhost:5002
	Languages []string      // of the service (ISO 639-1); others are sent as the first; default English
	Timeout   time.Duration // of one request; default DefaultTimeout
	MinScore  float64       // 0-1: findings with a lower score are ignored, telephone numbers at most below 0.4; default DefaultMinScore

	HTTPClient *http.Client // default: a new one
}

// Detector is a client of the service. It is safe for concurrent use.
type Detector struct {
	base      *url.URL
	languages []string
	timeout   time.Duration
	minScore  float64
	client    *http.Client
}

// New checks the configuration. It doesn't use the network.
func New(c Config) (*Detector, error) {
	base, err := httpurl.Parse(c.URL)
	if err != nil {
		return nil, errors.New("PII_DETECTOR_URL is not a URL such as http://localhost:5002")
	}
	d := &Detector{
		base: base, languages: c.Languages, timeout: c.Timeout, minScore: c.MinScore,
		client: c.HTTPClient,
	}
	if len(d.languages) == 0 {
		d.languages = []string{DefaultLanguage}
	}
	if d.timeout == 0 {
		d.timeout = DefaultTimeout
	}
	if d.minScore == 0 {
		d.minScore = DefaultMinScore
	}
	if d.client == nil {
		d.client = &http.Client{
			Transport: tracing.Transport(httpurl.Transport(), "privacy"),
			// The service is the operator's; a redirect would send documents elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	d.client = retryPolicy.Client(d.client)
	d.client.Transport = httpurl.SameOrigin(d.client.Transport, "PII_DETECTOR_URL")
	return d, nil
}

// Close closes idle connections.
func (d *Detector) Close() error {
	d.client.CloseIdleConnections()
	return nil
}

// Version implements privacy.Detector. Only the operator knows the service's models.
func (d *Detector) Version() string {
	return fmt.Sprintf("presidio@2/%s/%g", strings.Join(d.languages, ","), d.minScore)
}

// Find implements privacy.Detector. Its errors are retryable and name taskerr.Privacy as the dependency.
func (d *Detector) Find(ctx context.Context, texts []string, language string) ([][]privacy.Finding, error) {
	found := make([][]privacy.Finding, len(texts))
	for batch := range slices.Values(batches(texts)) {
		answers, err := d.request(ctx, batch, d.language(language))
		if err != nil {
			return nil, taskerr.Blame(taskerr.Privacy, err)
		}
		for i, p := range batch {
			findings, err := p.place(answers[i], d.least)
			if err != nil {
				return nil, taskerr.Blame(taskerr.Privacy, err)
			}
			found[p.of] = append(found[p.of], findings...)
		}
	}
	return found, nil
}

// least is the lowest score with which a finding of a kind counts.
func (d *Detector) least(of privacy.Kind) float64 {
	if of == privacy.Phone {
		return min(d.minScore, phoneScore)
	}
	return d.minScore
}

// language returns the language to send a text as.
func (d *Detector) language(language string) string {
	language, _, _ = strings.Cut(language, "-")
	if slices.Contains(d.languages, language) {
		return language
	}
	return d.languages[0]
}

// piece is a text, or a part of a long one.
type piece struct {
	text string
	of   int // index of the text
	at   int // offset in the text, in bytes
}

// batches divides texts into requests. A text without a letter or digit is omitted.
func batches(texts []string) [][]piece {
	var all [][]piece
	var batch []piece
	runes := 0
	for i, text := range texts {
		for _, p := range pieces(text, i) {
			n := utf8.RuneCountInString(p.text)
			if len(batch) > 0 && (len(batch) == maxTexts || runes+n > maxRunes) {
				all, batch, runes = append(all, batch), nil, 0
			}
			batch, runes = append(batch, p), runes+n
		}
	}
	if len(batch) > 0 {
		all = append(all, batch)
	}
	return all
}

func pieces(text string, of int) (all []piece) {
	if strings.TrimSpace(text) == "" {
		return nil // the service rejects an empty text
	}
	for at := 0; ; {
		end := at + prefix(text[at:], pieceRunes)
		all = append(all, piece{text[at:end], of, at})
		if end == len(text) {
			return all
		}
		at += prefix(text[at:], pieceRunes-overlap)
	}
}

// prefix returns the length in bytes of the first n runes.
func prefix(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}
