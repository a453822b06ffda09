package webhook

import (
	"errors"
	"net/http"
	"net/url"
	"sync"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

const (
	// enoughFailures is how many distinct deliveries, or paths of a host, have to fail in a row until their receiver
	// counts as down. One alone never does: it may be what makes the receiver fail.
	enoughFailures = 3
	maxHosts       = 1000 // that are remembered
)

// health decides from the results of attempts which receivers are down. It is safe for concurrent use.
type health struct {
	mu    sync.Mutex
	hosts map[string]*failures
}

// failures are those of one host.
type failures struct {
	paths   map[string]map[string]bool // deliveries that failed at a path since it answered last
	failing map[string]bool            // paths that failed since any path of the host answered
}

// judge reports whether an attempt shows that its receiver is down: store.HostDown when nothing answers there, or when
// distinct paths fail one after the other; store.URLDown when distinct deliveries to one path fail; else nothing.
//
// A delivery that is sent once only never shows it: it has ended, and so the store begins no outage with it. Its failure
// counts for the next one.
func (h *health) judge(d store.Delivery, a Attempt) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	name, path := hostKey(d), pathOf(d.URL)
	switch {
	case errors.Is(a.Err, errStopping), a.refused(), a.short(): // nothing was sent
		return ""
	case a.Status > 0 && a.Status < http.StatusInternalServerError:
		if f := h.hosts[name]; f != nil {
			delete(f.paths, path)
			clear(f.failing)
			if len(f.paths) == 0 {
				delete(h.hosts, name)
			}
		}
		return ""
	case a.Unreachable && !d.Once:
		delete(h.hosts, name)
		return store.HostDown
	}
	f := h.of(name)
	if f.paths[path] == nil {
		f.paths[path] = map[string]bool{}
	}
	if len(f.paths[path]) < enoughFailures { // those that are sent once only may fail without end
		f.paths[path][d.ID] = true
	}
	f.failing[path] = true
	switch {
	case d.Once:
		return ""
	case len(f.failing) >= enoughFailures:
		delete(h.hosts, name)
		return store.HostDown
	case len(f.paths[path]) >= enoughFailures:
		delete(f.paths, path)
		return store.URLDown
	}
	return ""
}

// of returns a host's failures. The caller holds mu.
func (h *health) of(name string) *failures {
	f := h.hosts[name]
	if f == nil || len(f.paths) > 100 {
		if h.hosts == nil || len(h.hosts) >= maxHosts {
			h.hosts = map[string]*failures{}
		}
		f = &failures{paths: map[string]map[string]bool{}, failing: map[string]bool{}}
		h.hosts[name] = f
	}
	return f
}

// pathOf is a URL's path as the store distinguishes paths.
func pathOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil {
		return ""
	}
	return u.EscapedPath()
}
