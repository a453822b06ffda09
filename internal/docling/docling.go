// Package docling is a client of docling-serve, the HTTP service around Docling. It converts one file at a
// time through the asynchronous endpoints of its API v1, so that an attempt which ends in the middle pays
// for no second conversion: the next one goes on polling the same task. Sources: docling-serve 1.31.0
// (docling_serve/app.py, openapi of /v1), docling 2.121 (docling/datamodel/service) and docling-core 2.92
// (docling_core/types/doc), github.com/docling-project.
package docling

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// Options are how a server is reached.
type Options struct {
	URL    string // of the server, e.g. http://docling:5001; a path before /v1 is kept
	APIKey string // sent as X-Api-Key; empty: none
	// Tenant is sent as X-Tenant-Id: a server on Ray shares itself fairly between tenants, and shows no
	// tenant another's task. Empty: none.
	Tenant string
	// HTTP is the client to use; nil: one of its own. Redirects are never followed: the key would go along.
	HTTP *http.Client
	// MaxResult bounds one result's JSON, in bytes. Default 512 MiB.
	MaxResult int64
	// TempDir is for results on their way; empty: the system's.
	TempDir string
	// Log receives what was submitted, resumed and submitted again; nil: no log.
	Log *slog.Logger
}

// Client talks to one docling-serve. It is safe for concurrent use.
type Client struct {
	o    Options
	base *url.URL
	http *http.Client
}

// The timeouts of single requests. How long a conversion may take is the caller's context's to say.
const (
	pollWait      = 10 * time.Second // how long the server is asked to wait; some of its engines answer at once
	pollTimeout   = pollWait + 20*time.Second
	submitTimeout = time.Minute // and a second for each MiB of the file
	resultTimeout = 10 * time.Minute
)

const defaultMaxResult = 512 << 20

// New returns a client, without network.
func New(o Options) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, errors.New("docling: the URL must be http(s)://HOST[:PORT]")
	}
	if o.MaxResult <= 0 {
		o.MaxResult = defaultMaxResult
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	client := &http.Client{}
	if o.HTTP != nil {
		*client = *o.HTTP
	} else if t, ok := http.DefaultTransport.(*http.Transport); ok {
		// its idle connections are its own, and end with CloseIdle
		client.Transport = tracing.Transport(t.Clone(), "docling")
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{o: o, base: base, http: client}, nil
}

// CloseIdle closes the connections that are not in use.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// server names the server without telling where it is: task ids are good on one server only.
func (c *Client) server() string { return hash(c.base.Scheme + "://" + c.base.Host + c.base.Path) }

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Status is what the server says of a task.
type Status struct {
	TaskID   string   `json:"task_id"`
	State    string   `json:"task_status"`
	Position int      `json:"task_position"` // in the server's queue, from 1; zero: not waiting
	Error    string   `json:"error_message"` // of a failed task, from servers that have no Failure
	Failure  *Failure `json:"failure"`
}

// The states of a task, and of a converted document.
const (
	Pending        = "pending"
	Started        = "started"
	Success        = "success"
	PartialSuccess = "partial_success"
	Failed         = "failure"
	Skipped        = "skipped"
)

// over reports whether the task has come to its end.
func (s Status) over() bool {
	switch s.State {
	case Success, PartialSuccess, Failed, Skipped:
		return true
	}
	return false
}

// Failure is why a whole task failed.
type Failure struct {
	Category  string `json:"category"` // policy, capacity, source_unavailable, target_unavailable, timeout, internal, …
	Message   string `json:"message"`
	Retryable bool   `json:"retryable"`
}

// ErrorItem is what went wrong with a document or one of its pages.
type ErrorItem struct {
	Component string `json:"component_type"`
	Message   string `json:"error_message"`
	Category  string `json:"category"` // backend_failure, inference_failure, timeout, policy, unknown
	Page      int    `json:"page_no"`  // 1-based; zero: of the document
}

// Field is one option of a conversion, as a form field. Lists are several fields of one name.
type Field struct{ Name, Value string }

// Request is one file to convert.
type Request struct {
	Path    string // of the file
	Name    string // sent as the file's name: the server goes by its ending, and logs it
	SHA256  string // of the file, hex
	Options []Field
	Fresh   bool // no result of an earlier job will do
}

// options identifies the request: the same bytes converted the same way. document_timeout is not part of it: it follows
// from how much time the attempt has left.
func (r Request) options() string {
	var b strings.Builder
	for _, f := range r.Options {
		if f.Name != optionTimeout {
			fmt.Fprintf(&b, "%s=%s\n", f.Name, f.Value)
		}
	}
	return hash(b.String())
}

const optionTimeout = "document_timeout"
