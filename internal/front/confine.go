package front

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// sessionOf is the name of the one cookie that a worker may have: internal/dashboard keeps its session in it.
func sessionOf(client string) string { return "async_worker_" + client }

// hostName is what a Host header may have to be a source in a policy. Browsers take no underscore there.
var hostName = regexp.MustCompile(`^[A-Za-z0-9.-]+(:[0-9]{1,5})?$|^\[[0-9A-Fa-f:]+\](:[0-9]{1,5})?$`)

// beyond are headers of a response that act beyond it, in the form of http.CanonicalHeaderKey. Browsers take the first ones
// for the whole origin: with Report-To and Nel they would tell a worker of all requests to the other tenants, with their
// queries. The next ones name a path that a browser loads, posts to or forgets, with its cookies. The last ones, and
// X-Accel-Redirect of nginx, have a proxy in front of this one answer with something else, such as a page of another tenant,
// with the cookies of who asked.
var beyond = []string{
	"Clear-Site-Data", "Service-Worker-Allowed", "Report-To", "Reporting-Endpoints", "Nel", "Alt-Svc",
	"Strict-Transport-Security", "Public-Key-Pins", "Expect-Ct", "Accept-Ch", "Critical-Ch", "Origin-Agent-Cluster",
	"Speculation-Rules", "Use-As-Dictionary", "Set-Login",
	"Refresh", "Link", "Content-Location", "Content-Security-Policy-Report-Only", "Secure-Session-Registration",
	"Sec-Session-Registration",
	"X-Sendfile", "X-Sendfile-Type", "X-Lighttpd-Send-File", "X-Lighttpd-Send-Tempfile", "X-Reproxy-Url",
}

// dropped reports whether a header of a worker's response does not reach the client: those of beyond, and those by which
// a response to htmx has a page go elsewhere, or show another address.
func dropped(name string) bool {
	return slices.Contains(beyond, name) || strings.HasPrefix(name, "Hx-") ||
		strings.HasPrefix(name, "X-Accel-") && name != "X-Accel-Buffering"
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
		if dropped(name) {
			delete(h, name)
		}
	}
	policies := slices.DeleteFunc(h["Content-Security-Policy"], func(policy string) bool {
		return strings.Contains(strings.ToLower(policy), "report-") // browsers post reports with cookies, wherever it says
	})
	h["Content-Security-Policy"] = append(policies, t.policy(from.host)) // all count
	if strings.Contains(strings.ToLower(strings.Join(h["Content-Type"], ",")), "mixed-replace") {
		h.Set("Content-Type", "application/octet-stream") // each part of it may have a Set-Cookie of its own
	}
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
