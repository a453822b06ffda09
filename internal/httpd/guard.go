package httpd

import (
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

// guard authorizes requests over TCP.
type guard struct {
	next  http.Handler
	open  func(*http.Request) bool
	own   func(*http.Request) bool
	token []byte // its SHA-256, for a comparison in constant time; nil: nobody has it
	free  bool   // no token is needed: there is none, and only this machine can connect
	log   *slog.Logger

	mu     sync.Mutex
	logged time.Time // when a refusal was last logged
}

// refusalsEvery is the shortest time between two logged refusals.
const refusalsEvery = time.Minute

// NewGuard authorizes requests to Config.Handler by Config.Token, or without one by Config.Addr.
func NewGuard(cfg Config) http.Handler {
	g := &guard{next: cfg.Handler, open: cfg.Open, own: cfg.Own, log: cfg.Log}
	if g.own == nil {
		g.own = func(*http.Request) bool { return false }
	}
	if g.open == nil {
		g.open = func(*http.Request) bool { return false }
	}
	if cfg.Token != "" {
		sum := sha256.Sum256([]byte(cfg.Token))
		g.token = sum[:]
	}
	g.free = cfg.Token == "" && cfg.Addr != "" && ownName(cfg.Addr)
	return g
}

// ServeHTTP implements http.Handler.
func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.own(r) {
		g.next.ServeHTTP(w, r)
		return
	}
	known := g.token != nil && g.knows(r)
	if !known {
		w.Header().Set("Connection", "close") // an unauthorized client must not hold a connection
	}
	switch {
	case g.free && !ownName(r.Host):
		// A page in a local browser may reach loopback under its own host name (DNS rebinding).
		g.refused(r, "its Host is not this machine")
		http.Error(w, "without HTTP_TOKEN only requests to localhost or a loopback address are answered; call it by such a name",
			http.StatusMisdirectedRequest)
	case g.free || known:
		trust(g.next).ServeHTTP(w, r)
	case g.open(r):
		g.next.ServeHTTP(w, r)
	default:
		g.unauthorized(w, r)
	}
}

// unauthorized answers a request that needs the token and does not have it.
func (g *guard) unauthorized(w http.ResponseWriter, r *http.Request) {
	why, help := "it has no token or a wrong one", "send the token (HTTP_TOKEN) as: Authorization: Bearer TOKEN"
	if g.token == nil {
		why = "HTTP_TOKEN is not set"
		help = "this is closed here: set HTTP_TOKEN for the worker, and send it as: Authorization: Bearer TOKEN"
	}
	g.refused(r, why)
	w.Header().Set("WWW-Authenticate", `Bearer realm="async-worker"`)
	http.Error(w, help, http.StatusUnauthorized)
}

func (g *guard) knows(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return subtle.ConstantTimeCompare(sum[:], g.token) == 1 && strings.EqualFold(scheme, "Bearer")
}

// refused logs a refusal, at most one per refusalsEvery.
func (g *guard) refused(r *http.Request, why string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Since(g.logged) < refusalsEvery && !g.logged.IsZero() {
		return
	}
	g.logged = time.Now()
	g.log.Warn("a request was refused; further refusals within a minute are not logged", "because", why, "from",
		r.RemoteAddr)
}

// ownName reports whether a Host header, or an address to listen on, names this machine and can't be a name in the DNS.
func ownName(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	return httpurl.Loopback(host)
}
