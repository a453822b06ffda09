package httpurl

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Patience is what a command that somebody waits for does about a service that takes requests and has not answered any.
// One that has answered is only slow, and may take longer. A worker needs none: it waits for services.
type Patience struct {
	// Grace is how long a request may have no answer before Waiting is called, once for each host.
	Grace   time.Duration
	Waiting func(setting, host string, limit time.Duration)
	// Limits are, by the setting with a service's address, how long a request may bring nothing: no answer, and the service
	// takes nothing of its body. Zero: only what the client of the service allows. Other services are not observed.
	Limits map[string]time.Duration
}

type patienceKey struct{}

// WithPatience returns a context under which the requests of transports of SameOrigin have this patience.
func WithPatience(ctx context.Context, p Patience) context.Context {
	return context.WithValue(ctx, patienceKey{}, &patience{Patience: p, hosts: map[string]*unheard{}})
}

// HangError is the end of a request to a host that has not answered anything.
type HangError struct {
	Host  string
	Limit time.Duration
}

func (e *HangError) Error() string {
	return fmt.Sprintf("no answer from %s within %s", e.Host, e.Limit)
}

// Timeout implements net.Error.
func (*HangError) Timeout() bool { return true }

// Temporary implements net.Error.
func (*HangError) Temporary() bool { return true }

// NonRetriable tells azcore that another request would end in the same way.
func (*HangError) NonRetriable() {}

type patience struct {
	Patience

	mu    sync.Mutex
	hosts map[string]*unheard
}

// unheard is a host that may not have answered yet.
type unheard struct {
	heard, hangs atomic.Bool
	notice       sync.Once
}

func (p *patience) host(name string) *unheard {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hosts[name] == nil {
		p.hosts[name] = new(unheard)
	}
	return p.hosts[name]
}

// patiently sends a request over next with the patience of its context.
func patiently(r *http.Request, setting string, next http.RoundTripper) (*http.Response, error) {
	p, ok := r.Context().Value(patienceKey{}).(*patience)
	if !ok {
		return next.RoundTrip(r)
	}
	limit, observed := p.Limits[setting]
	h := p.host(r.URL.Host)
	if !observed || h.heard.Load() {
		return next.RoundTrip(r)
	}
	hang := &HangError{r.URL.Host, limit}
	if h.hangs.Load() { // a client that tries again would wait again
		if r.Body != nil {
			_ = r.Body.Close() // as a RoundTripper must
		}
		return nil, hang
	}
	tell := func() {
		if !h.heard.Load() {
			h.notice.Do(func() { p.Waiting(setting, r.URL.Host, limit) })
		}
	}
	notice := time.AfterFunc(p.Grace, tell)
	defer notice.Stop()
	if limit == 0 {
		answer, err := next.RoundTrip(r)
		h.heard.CompareAndSwap(false, err == nil)
		return answer, err
	}
	return h.within(hang, tell, r, next)
}

// within sends a request that ends with hang when nothing has come or gone for its limit. tell is called before.
func (h *unheard) within(hang *HangError, tell func(), r *http.Request, next http.RoundTripper) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	var over atomic.Bool // it has an end: the answer, or the limit; a part of the body may be taken after it
	late := time.AfterFunc(hang.Limit, func() {
		if !h.heard.Load() && over.CompareAndSwap(false, true) {
			h.hangs.Store(true)
			tell() // on a busy machine the notice may be later than its time
			cancel(hang)
		}
	})
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &taken{r.Body, func() {
			if !over.Load() {
				late.Reset(hang.Limit)
			}
		}}
	}
	answer, err := next.RoundTrip(r)
	late.Stop()
	if !over.CompareAndSwap(false, true) { // it hung
		if err == nil {
			_ = answer.Body.Close() // it came with the limit
		}
		cancel(nil)
		return nil, hang
	}
	if err != nil {
		cancel(nil)
		return nil, err
	}
	h.heard.Store(true)
	answer.Body = &closing{answer.Body, func() { cancel(nil) }}
	return answer, nil
}

// taken is a request's body that reports each part that is read to be sent.
type taken struct {
	io.ReadCloser
	report func()
}

func (t *taken) Read(b []byte) (int, error) {
	t.report()
	return t.ReadCloser.Read(b)
}

// closing is an answer's body that ends its request's context when it is closed.
type closing struct {
	io.ReadCloser
	end func()
}

func (c *closing) Close() error {
	defer c.end()
	return c.ReadCloser.Close()
}
