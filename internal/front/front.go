// Package front is the HTTP proxy of a machine with many tenants. It hands /t/CLIENT/… to the Unix socket of that
// client's worker, without the prefix, and streams responses as they come. It has no key to any data and decides nothing
// but which worker a path names: the worker authorizes each request by its own token.
package front

import (
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// Limits of what is served at a time. Those of a tenant are below the limits of its worker, so that people on the
// machine still reach a worker while others use up its share; and so far below the limits of all that some tenants that
// hang hold up no other.
const (
	// TenantRequests is how many requests of one tenant are served at a time, beside its streams.
	TenantRequests = 64
	tenantStreams  = 512
	// Requests that anybody may make, of one tenant.
	tenantStrangers = 16
	// AllRequests is how many requests of all tenants are served at a time, beside the streams.
	AllRequests = 2048
	// AllStreams is how many streams of all tenants are served at a time.
	AllStreams = 4096

	// maxBody is the largest body of a request, in bytes: that of PUT /v1/blobs.
	maxBody = 32 << 20
)

const prefix = "/t/"

// Health is the path of the probe.
const Health = "/livez"

// Config says where the workers are.
type Config struct {
	// Runtime is the folder that has a folder for each tenant with the socket of its worker: /run/async-worker.
	Runtime string
	// Socket is the socket's name in a tenant's folder.
	Socket string
	// Tenants are the clients that are served. Empty: each one that has had a folder since the start.
	Tenants []string
	// Files are the scripts and styles of workers' pages, below FilesPath of each tenant. They are the proxy's own: a page may
	// run no other script, so no worker's page can act for who is signed in to another. Nil: no page has a script.
	Files     http.Handler
	FilesPath string // with a slash at both ends
	// Strangers reports which requests to a worker anybody may make, and may then keep waiting. They have a share of their own
	// of each tenant's. Nil: none.
	Strangers func(*http.Request) bool
	// List shows the tenants, at "/", to who is on this machine. Nil: nobody sees them.
	List func(http.ResponseWriter, *http.Request, []Tenant)
	Log  *slog.Logger
}

// Front is an http.Handler.
type Front struct {
	cfg       Config
	readLimit time.Duration // for the next bytes from a client

	mu    sync.Mutex
	known map[string]*tenant

	lister lister
}

// New returns the handler. Names that no client can have are an error.
func New(cfg Config) (*Front, error) {
	f := &Front{cfg: cfg, readLimit: readLimit, known: map[string]*tenant{}}
	for _, name := range cfg.Tenants {
		if err := task.ValidClientID(name); err != nil {
			return nil, err
		}
		f.known[name] = f.newTenant(name)
	}
	return f, nil
}

// Probes reports whether a request is a probe of the proxy itself.
func Probes(r *http.Request) bool { return r.URL.Path == Health }

// OfStrangers reports which requests to the proxy anybody may make, and may then keep waiting: those for files, and
// Config.Strangers.
func (f *Front) OfStrangers(r *http.Request) bool {
	if f.cfg.Files != nil && strings.HasPrefix(r.URL.Path, f.cfg.FilesPath) {
		return true
	}
	_, rest, ok := split(r.URL)
	return ok && f.strange(r, rest)
}

// strange reports whether Config.Strangers has the request to a worker that is at rest there.
func (f *Front) strange(r *http.Request, rest *url.URL) bool {
	if f.cfg.Strangers == nil {
		return false
	}
	own := *r
	own.URL = rest
	return f.cfg.Strangers(&own)
}

// ServeHTTP implements http.Handler.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if Probes(r) {
		w.Header().Set("Cache-Control", "no-store")
		_, _ = w.Write([]byte("ok\n")) // an error means that the client is gone
		return
	}
	if r.URL.Path == "/" {
		f.list(w, r)
		return
	}
	if f.cfg.List != nil && r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, f.cfg.FilesPath) {
		f.cfg.Files.ServeHTTP(w, r)
		return
	}
	name, rest, ok := split(r.URL)
	if !ok {
		notFound.write(w)
		return
	}
	t := f.tenant(name)
	if t == nil {
		notFound.write(w)
		return
	}
	if f.cfg.Files != nil && r.Method == http.MethodGet && strings.HasPrefix(rest.Path, f.cfg.FilesPath) {
		own := r.Clone(r.Context())
		own.URL = rest
		f.cfg.Files.ServeHTTP(w, own)
		return
	}
	t.serve(w, r, rest, f.strange(r, rest))
}

// split parses /t/CLIENT/rest. The client's name is taken as it was sent, without decoding: a name that needs an escape
// is none. The rest is handed on as it was sent; no call has a segment "." or "..", and who sends one means another path.
func split(u *url.URL) (name string, rest *url.URL, ok bool) {
	raw, ok := strings.CutPrefix(u.EscapedPath(), prefix)
	if !ok {
		return "", nil, false
	}
	name, raw, ok = strings.Cut(raw, "/")
	if !ok || task.ValidClientID(name) != nil {
		return "", nil, false
	}
	path, err := url.PathUnescape("/" + raw)
	if err != nil || strings.ContainsAny(path, "\\\x00") {
		return "", nil, false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return "", nil, false
		}
	}
	return name, &url.URL{Path: path, RawPath: "/" + raw, RawQuery: u.RawQuery}, true
}

// tenant finds a tenant by its valid name; nil: there is none. A tenant whose folder was there once is known from then
// on: the folder is missing while its worker restarts.
func (f *Front) tenant(name string) *tenant {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.known[name]; t != nil || len(f.cfg.Tenants) > 0 {
		return t
	}
	if info, err := os.Lstat(filepath.Join(f.cfg.Runtime, name)); err != nil || !info.IsDir() {
		return nil
	}
	t := f.newTenant(name)
	f.known[name] = t
	return t
}

// Look makes every tenant known that has a folder now, and returns how many are known.
func (f *Front) Look() int {
	entries, err := os.ReadDir(f.cfg.Runtime)
	if err != nil && !os.IsNotExist(err) {
		f.cfg.Log.Warn("can't list the tenants; each is found when it is asked for", "error", err)
	}
	for _, e := range entries {
		if task.ValidClientID(e.Name()) == nil {
			f.tenant(e.Name())
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.known)
}
