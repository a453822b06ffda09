package front

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// sessionOf is the name of the one cookie that a worker may have: internal/dashboard keeps its session in it.
func sessionOf(client string) string { return "async_worker_" + client }

// hostName is what a Host header may have to be a source in a policy.
var hostName = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]{1,5})?$|^\[[0-9A-Fa-f:]+\](:[0-9]{1,5})?$`)

// beyond are headers of a response that act beyond it, in the form of http.CanonicalHeaderKey. Browsers take the first ones
// for the whole origin: with Report-To and Nel they would tell a worker of all requests to the other tenants, with their
// queries. The last ones, and X-Accel-Redirect of nginx, have a proxy in front of this one answer with something else, such
// as a page of another tenant, with the cookies of who asked.
var beyond = []string{
	"Clear-Site-Data", "Service-Worker-Allowed", "Report-To", "Reporting-Endpoints", "Nel", "Alt-Svc",
	"Strict-Transport-Security", "Public-Key-Pins", "Expect-Ct", "Accept-Ch", "Critical-Ch", "Origin-Agent-Cluster",
	"Speculation-Rules", "Use-As-Dictionary", "Set-Login", "X-Sendfile", "X-Sendfile-Type", "X-Lighttpd-Send-File",
	"X-Lighttpd-Send-Tempfile", "X-Reproxy-Url",
}

// confine keeps the pages of one tenant's worker from those of the others, which have the same origin: it may set its own
// cookie for its own path, run the proxy's scripts alone, and send forms and requests to its own path. So a worker that
// somebody has taken over does nothing in the name of who is signed in to another tenant.
func (t *tenant) confine(resp *http.Response) {
	h, from := resp.Header, handedOf(resp.Request)
	cookies := resp.Cookies()
	h.Del("Set-Cookie")
	for _, c := range cookies {
		if c.Name != sessionOf(t.name) {
			continue
		}
		own := &http.Cookie{ //nolint:gosec // Secure is set where there is TLS
			Name: c.Name, Value: c.Value, Quoted: c.Quoted, MaxAge: c.MaxAge, Path: prefix + t.name, HttpOnly: true,
			SameSite: http.SameSiteStrictMode, Secure: c.Secure || from.tls,
		}
		h.Add("Set-Cookie", own.String())
	}
	for name := range h {
		if slices.Contains(beyond, name) || strings.HasPrefix(name, "X-Accel-") && name != "X-Accel-Buffering" {
			delete(h, name)
		}
	}
	h.Add("Content-Security-Policy", t.policy(from.host)) // beside the worker's own: both count
}

// policy is what the pages of a tenant may load and send to.
func (t *tenant) policy(host string) string {
	own, scripts := "'none'", "'none'"
	if hostName.MatchString(host) {
		own = host + prefix + t.name + "/"
		if t.files != "" {
			scripts = host + t.files
		}
	}
	return strings.Join([]string{
		"default-src 'none'", "script-src " + scripts, "style-src 'self' 'unsafe-inline'", "img-src 'self'", "connect-src " + own,
		"form-action " + own, "base-uri 'self'", "frame-ancestors 'none'",
	}, "; ")
}

// filesOf is the path of the proxy's own files for a tenant.
func (f *Front) filesOf(name string) string {
	if f.cfg.Files == nil {
		return ""
	}
	return prefix + name + f.cfg.FilesPath
}
