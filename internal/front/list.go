package front

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// State is whether a tenant's worker serves.
type State string

// The states.
const (
	Ready    State = "ready"     // it works
	NotReady State = "not ready" // it answers, and says that it lacks something
	Down     State = "down"      // it is stopped, or restarts, or hangs
)

// Tenant is a tenant of the machine and its state.
type Tenant struct {
	Name  string
	State State
}

const (
	probeLimit  = time.Second
	probesAtOne = 16              // time
	listFor     = 2 * time.Second // a list is as old, at most
)

// lister makes the list of tenants, one at a time.
type lister struct {
	mu   sync.Mutex
	last []Tenant
	made time.Time
}

// list answers with the tenants. Their names are nobody's business who is not on this machine, and the proxy can't ask who
// somebody is: so it answers a browser here alone, or at the other end of a tunnel, and nothing that another proxy sent
// on. The name of the host keeps out a foreign page whose name leads here.
func (f *Front) list(w http.ResponseWriter, r *http.Request) {
	if f.cfg.List == nil || r.Method != http.MethodGet || !local(r) {
		notFound.write(w)
		return
	}
	f.Look()
	f.cfg.List(w, r, f.states(r.Context()))
}

// local reports whether a request comes from this machine, straight and by one of its own names.
func local(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() || !r.ProtoAtLeast(1, 1) { // 1.0: nginx, which then names nobody
		return false
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Forwarded") || strings.HasPrefix(name, "X-Real-") || name == "Forwarded" || name == "Via" {
			return false
		}
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	at, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && at.Unmap().IsLoopback()
}

// states asks each worker that is known whether it is ready.
func (f *Front) states(ctx context.Context) []Tenant {
	f.lister.mu.Lock()
	defer f.lister.mu.Unlock()
	if !f.lister.made.IsZero() && time.Since(f.lister.made) < listFor {
		return f.lister.last
	}
	f.mu.Lock()
	asked := make([]*tenant, 0, len(f.known))
	for _, t := range f.known {
		asked = append(asked, t)
	}
	f.mu.Unlock()
	slices.SortFunc(asked, func(a, b *tenant) int { return strings.Compare(a.name, b.name) })
	all := make([]Tenant, len(asked))
	room := make(chan struct{}, probesAtOne)
	var wg sync.WaitGroup
	for i, t := range asked {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			all[i] = Tenant{t.name, t.state(ctx)}
		})
	}
	wg.Wait()
	if ctx.Err() == nil { // else they are down because nobody waited
		f.lister.last, f.lister.made = all, time.Now()
	}
	return all
}

// state asks a worker whether it is ready. Of the answer its status alone counts: the rest is the worker's own words.
func (t *tenant) state(ctx context.Context) State {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.name+"/readyz", http.NoBody)
	if err != nil {
		return Down
	}
	r.Host = "localhost"
	resp, err := t.proxy.Transport.RoundTrip(r)
	if err != nil {
		return Down
	}
	_ = resp.Body.Close() // it is not read
	if resp.StatusCode == http.StatusOK {
		return Ready
	}
	return NotReady
}
