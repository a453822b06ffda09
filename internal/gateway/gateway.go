// Package gateway is a client of the gateway, the service that makes XML of invoices: POST {GATEWAY_URL}/process takes
// a file and the name of a mapping as a form, and answers with XML or JSON. An answer is checked while it streams to a
// private file. Each call is paid for, so the client sends none twice: the engine retries, and its circuit breaker
// holds tasks back.
package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// Defaults of Options.
const (
	DefaultTimeout    = 180 * time.Second
	DefaultHealthPath = "/health"
	DefaultMaxAnswer  = 64 << 20
	DefaultMapping    = "pt_simon_invoice_v1"
)

// Options describe how to reach a gateway. Zero fields: the defaults.
type Options struct {
	URL        string        // of the gateway, for example https://gateway.example; a path before /process is kept
	Timeout    time.Duration // of one call: the upload, the work and the answer
	HealthPath string        // what Probe requests, below URL
	MaxAnswer  int64         // bytes of one answer
	HTTP       *http.Client  // nil: a new one. Redirects are never followed: the document would be sent along
	// OnCall is called at the end of each call, with "ok", "canceled" or the code of its error; nil: not called.
	OnCall func(result string, took time.Duration)
}

// Client calls one gateway. It is safe for concurrent use.
type Client struct {
	o       Options
	process string
	health  string
	http    *http.Client
}

// continueWait is how long a gateway may take to refuse a large file before it is sent (RFC 9110, section 10.1.1).
const continueWait = time.Second

// New returns a client. It doesn't use the network.
func New(o Options) (*Client, error) {
	base, err := httpurl.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil {
		return nil, errors.New("gateway: the URL must be http(s)://HOST[:PORT]")
	}
	o = o.withDefaults()
	health, err := url.Parse(o.HealthPath)
	if err != nil || health.IsAbs() || health.Host != "" || !strings.HasPrefix(health.Path, "/") {
		return nil, errors.New("gateway: the path of the health check must begin with /")
	}
	to := base.JoinPath(health.Path)
	to.RawQuery = health.RawQuery
	c := &Client{o: o, process: base.JoinPath("process").String(), health: to.String(), http: &http.Client{}}
	if o.HTTP != nil {
		*c.http = *o.HTTP
	} else {
		own := httpurl.Transport()
		own.ExpectContinueTimeout = continueWait
		c.http.Transport = tracing.Transport(own, "gateway")
	}
	c.http.Transport = httpurl.SameOrigin(c.http.Transport, "GATEWAY_URL")
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.HealthPath == "" {
		o.HealthPath = DefaultHealthPath
	}
	if o.MaxAnswer <= 0 {
		o.MaxAnswer = DefaultMaxAnswer
	}
	if o.OnCall == nil {
		o.OnCall = func(string, time.Duration) {}
	}
	return o
}

// CloseIdle closes idle connections.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// Format is the format of a file that is sent or answered.
type Format string

// The formats.
const (
	PDF  Format = "application/pdf"
	JSON Format = "application/json"
	XML  Format = "application/xml"
)

// Call is one call.
type Call struct {
	Path    string // of the file to send
	Format  Format // of the file: PDF or JSON
	Mapping string // see ValidMapping
	Pretty  bool   // indented for people
	Accept  Format // of the answer: XML or JSON
	Into    string // the path of the file for the answer, which must not exist
}

// Answer is an answer that was checked. Its file is complete.
type Answer struct {
	Bytes  int64
	SHA256 string // of the file, in hex
	Status int    // of HTTP
	Took   time.Duration
}

// mappingPattern holds no character that a path, a form or a log gives a meaning.
var mappingPattern = pattern.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// MappingRule says what ValidMapping accepts.
const MappingRule = "1 to 64 of A-Z, a-z, 0-9, _, . and -, beginning with a letter or digit"

// ValidMapping reports whether a name can be that of a mapping. Which mappings there are is the gateway's knowledge.
func ValidMapping(name string) bool { return mappingPattern.MatchString(name) }
