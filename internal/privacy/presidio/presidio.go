// Package presidio finds personal data by Microsoft Presidio's analyzer, a service of the operator's own that knows
// names and places by a language model (https://microsoft.github.io/presidio).
package presidio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
	// DefaultMinScore leaves out what Presidio itself doubts: it gives e.g. 0.01 to what may be a driving licence.
	DefaultMinScore = 0.5
)

// What one request holds: texts, and characters of them. A longer text is sent in pieces that overlap, so that what
// crosses the end of one is whole in the next.
const (
	maxTexts   = 500 // Presidio's own batch
	maxRunes   = 50_000
	pieceRunes = 20_000
	overlap    = 200
)

// again is how a request is sent again, within the timeout of one: it changes nothing in the service.
var again = retry.HTTP{
	Policy: retry.Policy{
		Backoff: retry.Backoff{First: 500 * time.Millisecond, Max: 2 * time.Second, Jitter: 0.25}, Tries: 3,
	},
	MaxAfter: 5 * time.Second,
}

// Config says where the service is. Zero fields take the default.
type Config struct {
	URL       string        // PII_DETECTOR_URL, e.g. http://localhost:5002
	Languages []string      // that the service is set up for (ISO 639-1); others are sent as the first; default English
	Timeout   time.Duration // of one request; default DefaultTimeout
	MinScore  float64       // 0-1: what is less sure is nothing; default DefaultMinScore

	HTTPClient *http.Client // default: one of its own
}

// Detector is a client of the service. It is safe for concurrent use.
type Detector struct {
	analyze   string // URL
	languages []string
	timeout   time.Duration
	minScore  float64
	client    *http.Client
}

// New checks the configuration, without network.
func New(c Config) (*Detector, error) {
	base, err := httpurl.Parse(c.URL)
	if err != nil {
		return nil, errors.New("PII_DETECTOR_URL is not a URL such as http://localhost:5002")
	}
	d := &Detector{
		analyze: base.JoinPath("analyze").String(), languages: c.Languages, timeout: c.Timeout, minScore: c.MinScore,
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
			Transport: tracing.Transport(http.DefaultTransport.(*http.Transport).Clone(), "privacy"),
			// It is one service of the operator's: a redirect would carry documents elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	d.client = again.Client(d.client)
	return d, nil
}

// Close gives up idle connections.
func (d *Detector) Close() error {
	d.client.CloseIdleConnections()
	return nil
}

// Version implements privacy.Detector. What models the service runs, only its operator knows.
func (d *Detector) Version() string {
	return fmt.Sprintf("presidio@1/%s/%g", strings.Join(d.languages, ","), d.minScore)
}

// Find implements privacy.Detector. Its errors are retryable and blame taskerr.Privacy.
func (d *Detector) Find(ctx context.Context, texts []string, language string) ([][]privacy.Finding, error) {
	found := make([][]privacy.Finding, len(texts))
	for batch := range slices.Values(batches(texts)) {
		answers, err := d.request(ctx, batch, d.language(language))
		if err != nil {
			return nil, taskerr.Blame(taskerr.Privacy, err)
		}
		for i, p := range batch {
			findings, err := p.place(answers[i], d.minScore)
			if err != nil {
				return nil, taskerr.Blame(taskerr.Privacy, err)
			}
			found[p.of] = append(found[p.of], findings...)
		}
	}
	return found, nil
}

// language is the one to send a text as.
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
	at   int // byte of the text at which it begins
}

// batches divides texts into requests. A text with neither letter nor digit is left out.
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
		return nil // the service refuses it
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

// prefix is the length in bytes of the first n runes.
func prefix(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}
