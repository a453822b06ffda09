package dashboard

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/api"
)

const (
	sessionLife = 12 * time.Hour
	linkLife    = 10 * time.Minute
	maxLinks    = 100
	maxToken    = 3800 // bytes: browsers keep cookies of up to 4096
	maxLogin    = 16 << 10
)

// cookie is the name of the session's cookie. Workers of several tenants on one machine share their host's cookies.
func (d *Dashboard) cookie() string { return "async_worker_" + d.deps.ClientID }

// tokenOf is the token of a session. The cookie holds the token itself: a session lives as long as its token is accepted, in
// each worker of the tenant and across restarts, and nothing new has to be kept secret. Scripts can't read it.
func (d *Dashboard) tokenOf(r *http.Request) string {
	c, err := r.Cookie(d.cookie())
	if err != nil {
		return ""
	}
	return c.Value
}

// begin sets the session's cookie; an empty token ends the session.
func (d *Dashboard) begin(w http.ResponseWriter, r *http.Request, token string) {
	c := &http.Cookie{ //nolint:gosec // Secure is set where there is TLS
		Name: d.cookie(), Value: token, Path: strings.TrimSuffix(baseOf(r), "/"), MaxAge: int(sessionLife.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
	}
	if token == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
}

// login is what the page of the login shows.
type login struct {
	Next  string
	Error string
	Shut  bool // there is no token with which one may sign in
}

func (d *Dashboard) loginForm(w http.ResponseWriter, r *http.Request) {
	if code := r.URL.Query().Get("once"); code != "" {
		d.redeem(w, r, code)
		return
	}
	p := &page{d: d, w: w, r: r, base: baseOf(r)}
	p.must(p.show("login", "Sign in", "", login{Next: safeNext(r.URL.Query().Get("next")), Shut: !d.deps.API.Open()}))
}

// redeem signs in by a link. A browser sends a strict cookie only with what a page of this site has asked for, so the
// answer is a page that goes on by itself, and no redirection.
func (d *Dashboard) redeem(w http.ResponseWriter, r *http.Request, code string) {
	p := &page{d: d, w: w, r: r, base: baseOf(r)}
	token, ok := d.links.redeem(code)
	if ok {
		_, err := d.deps.API.CallerOf(r.Context(), token)
		ok = err == nil
	}
	if !ok {
		v := p.view("Sign in", "", login{Error: "This link was used already, or is older than 10 minutes. Sign in with a token."})
		p.must(p.send(http.StatusUnauthorized, "login", v))
		return
	}
	d.begin(w, r, token)
	p.must(p.show("linked", "Signed in", "", nil))
}

func (d *Dashboard) login(w http.ResponseWriter, r *http.Request) {
	p := &page{d: d, w: w, r: r, base: baseOf(r)}
	r.Body = http.MaxBytesReader(w, r.Body, maxLogin)
	token, next := strings.TrimSpace(r.PostFormValue("token")), safeNext(r.PostFormValue("next"))
	by, err := d.deps.API.CallerOf(r.Context(), token)
	if err == nil && len(token) > maxToken {
		err = errors.New("the token is too long for a cookie")
	}
	if err != nil {
		say := login{Next: next, Error: "This token is not accepted: it is wrong, has expired, or was removed. Sign in with another one."}
		if known, ok := errors.AsType[*api.Problem](err); !ok || known.Status != http.StatusUnauthorized {
			say.Error = "Nobody can sign in with this token: " + err.Error()
		}
		p.must(p.send(http.StatusUnauthorized, "login", p.view("Sign in", "", say)))
		return
	}
	d.deps.Log.Info("somebody signed in to the dashboard", "by", by.Name(), "scope", by.Scope().String())
	d.begin(w, r, token)
	redirectTo(w, "./"+next)
}

func (d *Dashboard) logout(w http.ResponseWriter, r *http.Request) {
	d.begin(w, r, "")
	redirectTo(w, "./login")
}

// OfStrangers reports whether anybody may make a request: for what a page is made of, to sign in, or with a form, which is
// kept for who is signed out.
func OfStrangers(method, path string) bool {
	return strings.HasPrefix(path, FilesPath) || path == Root+"/login" ||
		method == http.MethodPost && strings.HasPrefix(path, Root+"/")
}

// must answers with an error if a page could not be rendered.
func (p *page) must(err error) {
	if err != nil {
		p.fail(err)
	}
}

// nextOf is the query that brings somebody back after the login.
func nextOf(r *http.Request) string {
	next := strings.TrimPrefix(r.URL.EscapedPath(), Root+"/")
	if r.URL.RawQuery != "" {
		next += "?" + r.URL.RawQuery
	}
	if next = safeNext(next); next == "" {
		return ""
	}
	return "?" + url.Values{"next": {next}}.Encode()
}

// safeNext is a path below Root with its query; empty: it is none.
func safeNext(next string) string {
	u, err := url.Parse(next)
	if err != nil || len(next) > 2000 || u.IsAbs() || u.Host != "" || u.Opaque != "" || strings.HasPrefix(u.Path, "/") ||
		strings.ContainsAny(next, "\\\r\n") {
		return ""
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == ".." || segment == "." || segment == "login" || strings.Contains(segment, ":") && u.Path == segment {
			return ""
		}
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}

// links are logins that work once. They are this process's.
type links struct {
	mu     sync.Mutex
	issued map[string]link
}

type link struct {
	token string
	until time.Time
}

func newLinks() *links { return &links{issued: map[string]link{}} }

func (l *links) issue(token string) (code string) {
	code = rand.Text() + rand.Text()
	l.mu.Lock()
	defer l.mu.Unlock()
	for old, k := range l.issued {
		if len(l.issued) >= maxLinks || time.Now().After(k.until) {
			delete(l.issued, old)
		}
	}
	l.issued[code] = link{token, time.Now().Add(linkLife)}
	return code
}

func (l *links) redeem(code string) (token string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.issued[code]
	delete(l.issued, code)
	return k.token, ok && time.Now().Before(k.until)
}

// newLink answers a program that has a token with a link that signs a browser in, once.
func (d *Dashboard) newLink(w http.ResponseWriter, r *http.Request) {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	_, err := d.deps.API.CallerOf(r.Context(), token)
	if refused, ok := errors.AsType[*api.Problem](err); ok && refused.Status == http.StatusServiceUnavailable {
		maps.Copy(w.Header(), refused.GetHeaders())
		http.Error(w, refused.Detail, refused.Status)
		return
	}
	if err != nil || len(token) > maxToken {
		w.Header().Set("WWW-Authenticate", `Bearer realm="async-worker"`)
		http.Error(w, "send a valid token as: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	path := baseOf(r) + "login?" + url.Values{"once": {d.links.issue(token)}}.Encode()
	_ = json.NewEncoder(w).Encode(map[string]string{"path": path}) // an error means that the client is gone
}
