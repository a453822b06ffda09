package source

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/guard"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// maxRedirects is how many redirects are followed.
const maxRedirects = 5

// WebConfig says how documents of the web are fetched.
type WebConfig struct {
	Allow     []netip.Prefix // private networks whose https servers may be called (SOURCE_ALLOW_CIDRS)
	UserAgent string         // e.g. async-worker/1.2.3
	TLS       *tls.Config    // nil: the system's roots
	Resolver  *net.Resolver  // nil: the system's
	Limits    WebLimits
}

// WebLimits bound how long one server can hold a task. Zero: the default.
type WebLimits struct {
	Answer time.Duration // until the header of the answer, with all connections and redirects; default 60 s
	Stall  time.Duration // the time in which Pace bytes of the body have to come; default 30 s
	Pace   int64         // bytes; default 16 KiB
	Whole  time.Duration // for everything; default 15 min
}

func (l WebLimits) orDefault() WebLimits {
	if l.Answer <= 0 {
		l.Answer = time.Minute
	}
	if l.Stall <= 0 {
		l.Stall = 30 * time.Second
	}
	if l.Pace <= 0 {
		l.Pace = 16 << 10
	}
	if l.Whole <= 0 {
		l.Whole = 15 * time.Minute
	}
	return l
}

// Web fetches documents from https servers, which may be slow or hostile: it calls no internal address, waits for a
// bounded time, and reads no more than it may. It is safe for concurrent use.
type Web struct {
	cfg       WebConfig
	transport *http.Transport
}

// NewWeb makes a Web; Close gives back its connections.
func NewWeb(cfg WebConfig) *Web {
	cfg.Limits = cfg.Limits.orDefault()
	g := guard.New(guard.Config{Allow: cfg.Allow, Subject: "the server of source_uri", Setting: "SOURCE_ALLOW_CIDRS"})
	w := &Web{cfg: cfg, transport: g.Transport(g.Check, cfg.Resolver)}
	w.transport.TLSClientConfig = cfg.TLS
	// One connection carries one document: a server that stalls it stalls no other.
	w.transport.ForceAttemptHTTP2 = false
	w.transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	w.transport.MaxIdleConns = 16
	return w
}

// Close closes idle connections.
func (w *Web) Close() { w.transport.CloseIdleConnections() }

// The causes of a fetch that is given up.
var (
	errNoAnswer = errors.New("it did not answer in time")
	errStalled  = errors.New("it stopped sending, or sent too slowly")
	errTooLong  = errors.New("it took too long to send the document")
)

// refusedHop is a redirect that is not followed.
type refusedHop struct{ problem string }

func (e *refusedHop) Error() string { return e.problem }

func (f Fetcher) openAddress(ctx context.Context, address *url.URL, known Version, most int64) (content, error) {
	w := f.Web
	if w == nil {
		return content{}, taskerr.Errorf(taskerr.ValidationError,
			"payload.source_uri: this worker fetches only blobs; upload the document, and name it in payload.filename")
	}
	limits := w.cfg.Limits
	ctx, ended := context.WithTimeoutCause(ctx, limits.Whole, errTooLong)
	ctx, cancel := context.WithCancelCause(ctx)
	end := func() { cancel(nil); ended() }
	timer := time.AfterFunc(limits.Answer, func() { cancel(errNoAnswer) })
	answer, err := w.get(ctx, address, known, f.Bucket) //nolint:bodyclose // closed below, or by the content's body
	timer.Stop()
	if err != nil {
		defer end()
		return content{}, unreached(ctx, address, err)
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		end()
		if answer.StatusCode == http.StatusNotModified && known != (Version{}) {
			return content{}, fmt.Errorf("%w: %s", ErrUnchanged, address.Hostname())
		}
		return content{}, refusedBy(answer, address)
	}
	give := time.AfterFunc(limits.Stall, func() { cancel(errStalled) })
	give.Stop() // until the first read
	body, size, err := decoded(answer, &capped{left: most, Reader: &paced{
		ctx: ctx, body: answer.Body, pace: limits.Pace, stall: limits.Stall, left: limits.Stall, give: give,
	}})
	problem := func(err error) error {
		if errors.Is(err, errTooMuch) {
			return tooLarge(most)
		}
		return broken(ctx, address, err)
	}
	if err != nil {
		_ = answer.Body.Close()
		defer end()
		return content{}, problem(err)
	}
	return content{
		version: Version{validator(answer, "ETag"), validator(answer, "Last-Modified")}, size: size,
		name: nameOf(answer.Header, answer.Request.URL), contentType: answer.Header.Get("Content-Type"),
		body: closing{body, func() error { end(); return answer.Body.Close() }}, problem: problem,
	}, nil
}

// get sends the request, and follows redirects to places where it may go.
func (w *Web) get(ctx context.Context, address *url.URL, known Version, bucket blob.Bucket) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, &refusedHop{"it is not an address"}
	}
	r.Header.Set("Accept", "*/*")
	r.Header.Set("Accept-Encoding", "gzip")
	r.Header.Set("User-Agent", w.cfg.UserAgent)
	if known.ETag != "" {
		r.Header.Set("If-None-Match", known.ETag)
	}
	if known.Modified != "" {
		r.Header.Set("If-Modified-Since", known.Modified)
	}
	client := http.Client{Transport: w.transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		r.Header.Del("Referer") // it has the query, which may be a secret
		return mayFollow(r.URL, len(via), bucket)
	}}
	return client.Do(r)
}

// mayFollow returns why a redirect is not followed. Where its host leads to is the guard's to decide.
func mayFollow(u *url.URL, hops int, bucket blob.Bucket) error {
	switch {
	case hops > maxRedirects:
		return &refusedHop{fmt.Sprintf("it redirects more than %d times", maxRedirects)}
	case u.Scheme != "https":
		return &refusedHop{"it redirects to an address that is not https"}
	}
	if problem := addressProblem(u); problem != "" {
		return &refusedHop{"it redirects to an address that " + problem}
	}
	if b, ok := bucket.(blob.Locator); ok {
		if _, _, err := b.Locate(u); err != nil {
			return &refusedHop{"it redirects into the worker's own storage account"}
		}
	}
	return nil
}

// errTooMuch is the error of a body that is larger than it may be before it is decompressed.
var errTooMuch = errors.New("the server sent too much")

// capped ends a body that is larger as sent than a document may be: compressed data can go on for ever and decompress to
// nothing, so that the limit of the document is never reached.
type capped struct {
	io.Reader
	left int64
}

func (c *capped) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if c.left -= int64(n); c.left < 0 {
		return n, errTooMuch
	}
	return n, err
}

// paced ends a body that comes too slowly: of each pace bytes, the reader waits for at most stall. The time between two
// reads, in which the file is written, does not count.
type paced struct {
	ctx   context.Context //nolint:containedctx // that of the fetch
	body  io.Reader
	pace  int64
	stall time.Duration
	left  time.Duration // of the stall, to wait for the rest of pace
	got   int64
	give  *time.Timer // gives up
}

func (p *paced) Read(b []byte) (int, error) {
	p.give.Reset(max(p.left, 0))
	began := time.Now()
	n, err := p.body.Read(b)
	p.give.Stop()
	p.left -= time.Since(began)
	if p.got += int64(n); p.got >= p.pace {
		p.got, p.left = 0, p.stall
	}
	if err != nil && p.ctx.Err() != nil {
		// A server that sees the connection end may still end its answer: half of a document would look like a whole one.
		err = context.Cause(p.ctx)
	}
	return n, err
}

// closing is a body with its own way to close.
type closing struct {
	io.Reader
	close func() error
}

// Close implements io.Closer.
func (c closing) Close() error { return c.close() }
