// Package rerank is a client of services that rate passages by how well they answer a question. It speaks two protocols:
// with a model that of Cohere (POST /v2/rerank), which Voyage, Jina and vLLM share, and without one that of
// text-embeddings-inference (POST /rerank), which serves a single model.
package rerank

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/retry"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// Defaults of Config.
const (
	DefaultTimeout = 3 * time.Second
	DefaultRest    = 30 * time.Second
)

// retryPolicy fits in DefaultTimeout.
var retryPolicy = retry.HTTP{
	Policy: retry.Policy{
		Backoff: retry.Backoff{First: 200 * time.Millisecond, Max: 500 * time.Millisecond, Jitter: 0.25}, Tries: 2,
	},
	MaxAfter: time.Second,
}

// Config describes the service. Zero fields take the default.
type Config struct {
	URL    string // RERANK_URL, the whole address, e.g. https://api.cohere.com/v2/rerank
	Model  string // RERANK_MODEL; empty: the protocol of text-embeddings-inference
	APIKey string // RERANK_API_KEY; empty: none is sent

	Timeout time.Duration // of Rate with its retry; default DefaultTimeout
	Rest    time.Duration // in which a service that failed is not asked; default DefaultRest

	HTTPClient *http.Client // default: a new one
}

// Client is a client of the service. It is safe for concurrent use.
type Client struct {
	config Config
	client *http.Client
	failed atomic.Int64 // when the service failed last, Unix time in nanoseconds; 0: it works
}

// New checks the configuration. It doesn't use the network.
func New(c Config) (*Client, error) {
	if _, err := httpurl.Parse(c.URL); err != nil {
		return nil, errors.New("RERANK_URL is not a URL such as https://api.cohere.com/v2/rerank")
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Rest == 0 {
		c.Rest = DefaultRest
	}
	inner := c.HTTPClient
	if inner == nil {
		inner = &http.Client{
			Transport: tracing.Transport(httpurl.Transport(), "rerank"),
			// The service is the operator's; a redirect would send passages elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	inner = retryPolicy.Client(inner)
	inner.Transport = httpurl.SameOrigin(inner.Transport, "RERANK_URL")
	return &Client{config: c, client: inner}, nil
}

// Close closes idle connections.
func (c *Client) Close() error {
	c.client.CloseIdleConnections()
	return nil
}

// Probe asks the service to rate one passage.
func (c *Client) Probe(ctx context.Context) error {
	_, err := c.ask(ctx, "doctor", []string{"a doctor"})
	return err
}

// Rate returns how well each text answers the question, from 0 to 1. While the service rests after a failure it is not
// asked, so that its failure costs one search its timeout, and not each. Its refusal of one question is not a failure.
func (c *Client) Rate(ctx context.Context, question string, texts []string) ([]float64, error) {
	if at := c.failed.Load(); at != 0 && time.Since(time.Unix(0, at)) < c.config.Rest {
		return nil, &taskerr.Error{
			Class:   taskerr.DependencyUnavailable,
			Message: "the re-ranker failed a moment ago, and is asked again " + c.config.Rest.String() + " after that",
		}
	}
	rates, err := c.ask(ctx, question, texts)
	switch {
	case err == nil:
		c.failed.Store(0)
	case errors.Is(err, errQuestion): // the service works, and may take the next one
	case context.Cause(ctx) == nil: // else it is the caller's end
		c.failed.Store(time.Now().UnixNano())
	}
	return rates, err
}
