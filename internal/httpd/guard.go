package httpd

import (
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// guard stands before what is served over TCP.
type guard struct {
	next  http.Handler
	open  func(*http.Request) bool
	token []byte // its SHA-256, so that comparing takes the same time whatever is sent; nil: none is asked for
	log   *slog.Logger

	mu     sync.Mutex
	logged time.Time // when a refusal was logged last
}

// refusalsEvery is how often refused requests are logged at most.
const refusalsEvery = time.Minute

// NewGuard puts the rules of Config.Token before Config.Handler.
func NewGuard(cfg Config) http.Handler {
	g := &guard{next: cfg.Handler, open: cfg.Open, log: cfg.Log}
	if g.open == nil {
		g.open = func(*http.Request) bool { return false }
	}
	if cfg.Token != "" {
		sum := sha256.Sum256([]byte(cfg.Token))
		g.token = sum[:]
	}
	return g
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	known := g.token != nil && g.knows(r)
	if !known {
		w.Header().Set("Connection", "close") // whoever it is holds no connection for long
	}
	switch {
	case g.token == nil && !ownName(r.Host):
		// A page in a browser on this machine reaches loopback under a name of its own (DNS rebinding).
		g.refused(r, "its Host is not this machine")
		http.Error(w, "without HTTP_TOKEN only requests to localhost or a loopback address are answered",
			http.StatusMisdirectedRequest)
	case g.token != nil && !g.open(r) && !known:
		g.refused(r, "it bears no token, or not the right one")
		w.Header().Set("WWW-Authenticate", `Bearer realm="async-worker"`)
		http.Error(w, "send the token (HTTP_TOKEN) as: Authorization: Bearer TOKEN", http.StatusUnauthorized)
	case g.token == nil || known:
		trust(g.next).ServeHTTP(w, r)
	default:
		g.next.ServeHTTP(w, r)
	}
}

func (g *guard) knows(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(sum[:], g.token) == 1 && strings.EqualFold(scheme, "Bearer")
}

// refused logs a refusal, now and then.
func (g *guard) refused(r *http.Request, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Since(g.logged) < refusalsEvery && !g.logged.IsZero() {
		return
	}
	g.logged = time.Now()
	g.log.Warn("a request was refused; others are, within a minute, without a word", "because", why, "from",
		r.RemoteAddr)
}

// ownName says whether a Host header names this machine and can't be anybody's name in the DNS.
func ownName(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}
