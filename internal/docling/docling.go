// Package docling is a client of docling-serve, the HTTP service for Docling. It converts one file at a time
// through the asynchronous endpoints of its API v1, so that an interrupted attempt doesn't pay for a second
// conversion: the next attempt polls the same task. Sources: docling-serve 1.31.0 (docling_serve/app.py,
// openapi of /v1), docling 2.121 (docling/datamodel/service) and docling-core 2.92 (docling_core/types/doc),
// github.com/docling-project.
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

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/tracing"
)

// Options describe how to reach a server.
type Options struct {
	URL    string // of the server, for example http://docling:5001; a path before /v1 is kept
	APIKey string // sent as X-Api-Key; empty: none
	// Tenant is sent as X-Tenant-Id. A server on Ray shares its capacity fairly between tenants and hides their
	// tasks from each other. Empty: none.
	Tenant string
	// HTTP is the client to use; nil: a new one. Redirects are never followed, because the key would be sent
	// along; one to another origin is an error that names DOCLING_URL.
	HTTP *http.Client
	// MaxResult limits one result's JSON, in bytes. Default 512 MiB.
	MaxResult int64
	// TempDir is for results being downloaded; empty: os.TempDir().
	TempDir string
	// Log receives submissions and resumptions; nil: no log.
	Log *slog.Logger
}

// Client talks to one docling-serve. It is safe for concurrent use.
type Client struct {
	o    Options
	base *url.URL
	http *http.Client
}

// The timeouts of single requests. The caller's context limits the whole conversion.
const (
	pollWait      = 10 * time.Second // long polling; some of the server's engines answer at once
	pollTimeout   = pollWait + 20*time.Second
	submitTimeout = time.Minute // plus a second for each MiB of the file
	resultTimeout = 10 * time.Minute
)

const defaultMaxResult = 512 << 20

// New returns a client. It doesn't use the network.
func New(o Options) (*Client, error) {
	base, err := httpurl.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil {
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
	} else {
		client.Transport = tracing.Transport(httpurl.Transport(), "docling")
	}
	client.Transport = httpurl.SameOrigin(client.Transport, "DOCLING_URL")
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{o: o, base: base, http: client}, nil
}

// CloseIdle closes idle connections.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// server identifies the server without its address: task ids are valid on one server only.
func (c *Client) server() string { return hash(c.base.Scheme + "://" + c.base.Host + c.base.Path) }

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Status is the server's status of a task.
type Status struct {
	TaskID   string   `json:"task_id"`
	State    string   `json:"task_status"`
	Position int      `json:"task_position"` // in the server's queue, from 1; zero: not waiting
	Error    string   `json:"error_message"` // of a failed task, from servers without Failure
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

// finished reports whether the task has ended.
func (s Status) finished() bool {
	switch s.State {
	case Success, PartialSuccess, Failed, Skipped:
		return true
	}
	return false
}

// Failure is the reason why a whole task failed.
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
	Page      int    `json:"page_no"`  // 1-based; zero: the whole document
}

// Field is one option of a conversion, as a form field. A list is several fields with one name.
type Field struct{ Name, Value string }

// Request is one file to convert.
type Request struct {
	Path    string // of the file
	Name    string // sent as the file's name; the server uses its extension, and logs it
	SHA256  string // of the file, hex
	Options []Field
	Fresh   bool // don't use the result of an earlier job
}

// options identifies the request: the same bytes converted the same way. It excludes document_timeout, which
// depends on the time that the attempt has left.
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
