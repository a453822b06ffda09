// Package cognee keeps a Cognee server's datasets equal to a tenant's index: the active version of each document, once,
// and nothing of a deleted one. The store's outbox says what is to be sent (store.Cognee); the Loop sends it, a document
// at a time, and asks Cognee to work what has changed into its graph. No task waits for any of this.
//
// Client speaks Cognee's API v1, as of Cognee 1.6.5 (cognee/api/v1 of its wheel). What it relies on:
//   - An upload is named after the document's id. Cognee refuses one of that name with other content (409), and the
//     refusal names the id by which the document is updated. The same bytes again change nothing. So a request can be
//     repeated when its answer was lost.
//   - Cognee keeps one row for equal bytes in a dataset, even of two names. So that two documents with the same text do
//     not share a row, and a delete does not remove the other one, each text begins with the document's id.
//   - Names of datasets have no dots and spaces; see DatasetName.
package cognee

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

// Options describe how to reach a server.
type Options struct {
	URL       string // of the server, for example http://cognee:8000; a path before /api/v1 is kept
	APIKey    string // sent as X-Api-Key; empty: none, for a server without access control
	UserAgent string
	// HTTP is the client to use; nil: a new one. Redirects are not followed, because the key would be sent along.
	HTTP *http.Client
	// Timeout is how long adding or forgetting a document may take; zero: five minutes. An update, for which Cognee may
	// have to rebuild the document's graph before it answers, may take three times as long.
	Timeout time.Duration
}

const (
	defaultTimeout = 5 * time.Minute
	quickTimeout   = time.Minute // of requests that Cognee answers from its database
	maxAnswer      = 8 << 20     // bytes of an answer
	maxItems       = 1000        // of one page of a dataset; Cognee's limit
)

// Client talks to one Cognee server. It is safe for concurrent use.
type Client struct {
	o    Options
	base *url.URL
	http *http.Client
	// rebuilds: Cognee rebuilds a document's graph as a whole although it need not.
	rebuilds atomic.Bool
}

// New returns a client. It doesn't use the network.
func New(o Options) (*Client, error) {
	base, err := httpurl.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil {
		return nil, errors.New("cognee: the URL must be http(s)://HOST[:PORT]")
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	client := &http.Client{}
	if o.HTTP != nil {
		*client = *o.HTTP
	} else {
		client.Transport = httpurl.Transport()
	}
	client.Transport = httpurl.SameOrigin(client.Transport, "COGNEE_URL")
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{o: o, base: base, http: client}, nil
}

// CloseIdle closes idle connections.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }
