package front

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// AnswerLimit is how long a worker may send nothing, from the end of the request to the response's header and within it. A
// call that takes longer is cut off in its middle, so none may.
const AnswerLimit = 60 * time.Second

// Limits of time. A stream has a heartbeat every 15 s.
const (
	connectLimit = 5 * time.Second
	readLimit    = 15 * time.Second // for the next bytes from a client
	restLimit    = 2 * time.Second  // for the rest of a body that the worker did not wait for
	writeLimit   = 30 * time.Second // for a client to take the next bytes
	logEvery     = time.Minute      // per tenant
	bufferSize   = 8 << 10          // per response, in bytes
	maxHeader    = 64 << 10         // of a response, in bytes
)

// tenant hands requests to a worker.
type tenant struct {
	name              string
	files             string // the path of the proxy's own files; empty: there are none
	proxy             *httputil.ReverseProxy
	requests, streams chan struct{} // have an element for each that is served
	strangers         chan struct{} // the same, of requests that anybody may make
	readLimit         time.Duration // for the next bytes from a client

	mu     sync.Mutex
	logged time.Time
}

// handed is what a request carries to the proxy's functions.
type handed struct {
	rest *url.URL
	host string    // as the client named this machine
	tls  bool      // the client came by TLS, as the proxy before this one says
	body *slowBody // nil: none
}

type handedKey struct{}

func handedOf(r *http.Request) handed {
	h, _ := r.Context().Value(handedKey{}).(handed)
	return h
}

// newTenant returns the proxy to one worker. Each request has a connection of its own: nothing of one client is left on
// a connection for the next, and a worker's restart breaks no idle one.
func (f *Front) newTenant(name string) *tenant {
	t := &tenant{
		name: name, files: f.filesOf(name), readLimit: f.readLimit,
		requests: make(chan struct{}, TenantRequests), streams: make(chan struct{}, tenantStreams),
		strangers: make(chan struct{}, tenantStrangers),
	}
	socket := filepath.Join(f.cfg.Runtime, name, f.cfg.Socket)
	t.proxy = &httputil.ReverseProxy{
		FlushInterval:  -1,
		BufferPool:     buffers{},
		ErrorLog:       slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // a client that went away
		Rewrite:        t.rewrite,
		ModifyResponse: t.modify,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			f.failed(t, w, r, err)
		},
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				ctx, cancel := context.WithTimeout(ctx, connectLimit)
				defer cancel()
				c, err := httpd.DialOwner(ctx, socket)
				if err != nil {
					return nil, err
				}
				return &patient{c}, nil
			},
			DisableKeepAlives: true, DisableCompression: true, ResponseHeaderTimeout: AnswerLimit,
			MaxResponseHeaderBytes: maxHeader, WriteBufferSize: bufferSize, ReadBufferSize: bufferSize,
		},
	}
	return t
}

// serve hands a request on, unless too many are being served.
func (t *tenant) serve(w http.ResponseWriter, r *http.Request, rest *url.URL, stranger bool) {
	room := t.requests
	switch {
	case stranger:
		room = t.strangers
	case strings.Contains(r.Header.Get("Accept"), "text/event-stream"):
		room = t.streams
	}
	select {
	case room <- struct{}{}:
		defer func() { <-room }()
	default:
		busy.write(w)
		return
	}
	if r.ContentLength > maxBody {
		tooLarge.write(w)
		return
	}
	rc := http.NewResponseController(w)
	slow := &slowWriter{ResponseWriter: w, rc: rc}
	h := handed{rest: rest, host: r.Host, tls: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"}
	if r.Body != nil && r.Body != http.NoBody {
		h.body = &slowBody{
			ReadCloser: http.MaxBytesReader(w, r.Body, maxBody), rc: rc, limit: t.readLimit, left: r.ContentLength,
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), handedKey{}, h))
	if h.body != nil {
		r.Body = h.body // of the copy: net/http looks at its own one when it answers before it has all
	}
	r.Header.Del("Upgrade") // no call changes the protocol
	t.proxy.ServeHTTP(slow, r)
}

// rewrite makes the request to the worker. What a client sent about itself in X-Forwarded-* is dropped: the worker
// reads from X-Forwarded-For that the request is not one of this machine's own. Of the cookies, which all tenants share, a
// worker gets its own alone.
func (t *tenant) rewrite(p *httputil.ProxyRequest) {
	rest := handedOf(p.In).rest
	p.Out.URL = &url.URL{
		Scheme: "http", Host: t.name, Path: rest.Path, RawPath: rest.RawPath, RawQuery: rest.RawQuery,
	}
	p.Out.Host = "localhost"
	h := p.Out.Header
	for name := range h {
		if strings.HasPrefix(name, "X-Forwarded") || strings.HasPrefix(name, "X-Real-") {
			delete(h, name)
		}
	}
	h.Del("Forwarded")
	h.Del("Cookie")
	for _, c := range p.In.CookiesNamed(sessionOf(t.name)) {
		p.Out.AddCookie(&http.Cookie{Name: c.Name, Value: c.Value, Quoted: c.Quoted}) //nolint:gosec // of a request
	}
	p.SetXForwarded()
	if handedOf(p.In).tls {
		h.Set("X-Forwarded-Proto", "https")
	}
	if h.Get(httpd.ForwardedFor) == "" {
		h.Set(httpd.ForwardedFor, "unknown")
	}
	h.Set("X-Forwarded-Prefix", prefix+t.name)
}

// modify makes a response the proxy's own: its Location, and what else a browser would act on.
func (t *tenant) modify(resp *http.Response) error {
	if body := handedOf(resp.Request).body; body != nil {
		body.answer()
	}
	t.confine(resp)
	return t.locate(resp)
}

// failed answers when a worker did not.
func (f *Front) failed(t *tenant, w http.ResponseWriter, r *http.Request, err error) {
	if body := handedOf(r).body; body != nil && body.ended.Load() != nil {
		if _, large := errors.AsType[*http.MaxBytesError](*body.ended.Load()); large {
			tooLarge.write(w)
			return
		}
		tooSlow.write(w)
		return
	}
	if errors.Is(context.Cause(r.Context()), httpd.ErrStopping) {
		stopping.write(w)
		return
	}
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // nobody waits for the response
	}
	t.mu.Lock()
	due := t.logged.IsZero() || time.Since(t.logged) >= logEvery
	if due {
		t.logged = time.Now()
	}
	t.mu.Unlock()
	if due {
		f.cfg.Log.Warn("a tenant's worker does not answer as it should; further failures within a minute are not logged",
			"client_id", t.name, "error", err)
	}
	if errors.Is(err, errElsewhere) {
		elsewhere.write(w)
		return
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		silent.write(w)
		return
	}
	down.write(w)
}

// buffers are for copying responses. Streams hold theirs for long, so they are small.
type buffers struct{}

var pool = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// Get implements httputil.BufferPool.
func (buffers) Get() []byte { return pool.Get().(*[bufferSize]byte)[:] } //nolint:forcetypeassert // only these are put

// Put implements httputil.BufferPool.
func (buffers) Put(b []byte) { pool.Put((*[bufferSize]byte)(b)) }
