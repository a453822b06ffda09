package dashboard_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/dashboard"
)

// link asks for a link that signs in once, and returns its path.
func (v *visitor) link(token string) string {
	v.Helper()
	a := v.want(v.do(http.MethodPost, "link", nil, "Authorization", "Bearer "+token), http.StatusOK)
	var made struct{ Path string }
	if err := json.Unmarshal([]byte(a.text), &made); err != nil || made.Path == "" {
		v.Fatal(a.text, err)
	}
	return made.Path
}

// Who is not signed in sees the login alone, and comes back to where he wanted to go.
func TestSignIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("")
	a := v.want(v.get("jobs?q=status:failed"), http.StatusOK, "Sign in", `name="next" value="jobs?q=status:failed"`)
	if strings.Contains(a.text, "<nav") || a.path != dashboard.Root+"/login" {
		t.Errorf("a stranger sees %s", a.path)
	}
	v.want(v.do(http.MethodGet, "live", nil, "Accept", "text/event-stream"), http.StatusUnauthorized)
	v.want(v.post("jobs/x/cancel"), http.StatusUnauthorized, `action="jobs/x/cancel"`)
	v.want(v.do(http.MethodPost, "documents/upload", nil, "HX-Request", "true"), http.StatusUnauthorized, "you are signed out;")
	v.want(v.post("login", "token", "aw_wrong"), http.StatusUnauthorized, "not accepted")
	v.want(v.post("login", "token", ""), http.StatusUnauthorized, "not accepted")
	a = v.want(v.post("login", "token", b.tokens["read"], "next", "jobs?q=status:failed"), http.StatusOK, "No job is like this")
	if a.path != dashboard.Root+"/jobs" {
		t.Errorf("it goes on at %s", a.path)
	}
	if log := b.log.String(); strings.Contains(log, b.tokens["read"]) || !strings.Contains(log, "by=auditor") {
		t.Errorf("the log has a token, or does not have the name: %s", log)
	}
	// A token that was taken away ends the session.
	b.api.SetTokens(nil)
	v.want(v.get("jobs"), http.StatusOK, "Nobody can sign in yet")
}

// The cookie is out of reach of scripts, of other sites and of other tenants' paths.
func TestCookie(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := *b.server.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for prefix, path := range map[string]string{
		"": dashboard.Root, "/t/southhaven": "/t/southhaven" + dashboard.Root, "//evil.example": dashboard.Root,
		"/a/../b": dashboard.Root, `/"><script>`: dashboard.Root, "/x;Domain=evil": dashboard.Root,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.server.URL+dashboard.Root+"/login",
			strings.NewReader("token="+b.tokens["read"]))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("X-Forwarded-Prefix", prefix)
		req.Header.Set("X-Forwarded-Proto", "https")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		c := resp.Cookies()
		if len(c) != 1 || !c[0].HttpOnly || !c[0].Secure || c[0].SameSite != http.SameSiteStrictMode || c[0].Path != path ||
			c[0].Domain != "" || resp.Header.Get("Location") != "./" {
			t.Errorf("%q: %+v, %v", prefix, c, resp.Header)
		}
	}
}

// Another site can't have anything changed, whatever the browser sends along.
func TestCrossSite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("operate")
	b.submit("job-1", "a.pdf")
	for _, header := range [][]string{
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
		{"Origin", "https://evil.example", "X-Forwarded-Host", "app.example"},
	} {
		for _, path := range []string{"jobs/job-1/cancel", "login", "logout", "change-jobs"} {
			v.want(v.do(http.MethodPost, path, strings.NewReader("id=job-1&action=cancel"), append(header,
				"Content-Type", "application/x-www-form-urlencoded")...), http.StatusForbidden)
		}
	}
	if j, err := b.store.Job(t.Context(), "job-1"); err != nil || j.Status != "pending" {
		t.Errorf("%+v, %v", j, err)
	}
	// Through a proxy the browser's host is another one than the worker's.
	v.want(v.do(http.MethodPost, "jobs/job-1/cancel", nil, "Origin", "https://app.example", "X-Forwarded-Host",
		"app.example"), http.StatusOK, "canceled")
}

// Each scope sees the controls that it can use, and no other; what it may not do is refused however it is asked for.
func TestScopes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w := b.furnish()
	forbidden := map[string][]string{
		"read":    {"/cancel", "/retry", "/replay", "/delete", "/resend", "upload", `"ask`, "settings", "doctor", "bulk"},
		"submit":  {"/retry", "/replay", "/delete", "/resend", "settings", "doctor"},
		"operate": nil,
	}
	for scope, not := range forbidden {
		v := b.visit(scope)
		for name, path := range w.addresses() {
			a := v.get(path)
			if a.status == http.StatusForbidden && scope != "operate" {
				continue
			}
			if a.status != http.StatusOK && name != "not-found" {
				t.Errorf("%s, %s: %d", scope, name, a.status)
			}
			for _, control := range not {
				for _, attribute := range []string{`href="`, `action="`} {
					for part := range strings.SplitSeq(a.text, attribute) {
						target, _, _ := strings.Cut(part, `"`)
						if part != a.text && strings.Contains(`"`+target, control) && !strings.HasPrefix(part, "<!doctype") {
							t.Errorf("%s sees %s on %s", scope, target, name)
						}
					}
				}
			}
			if scope == "read" && strings.Contains(a.text, `method="post"`) && strings.Count(a.text, `method="post"`) > 1 {
				t.Errorf("a reader sees a form for a change on %s", name)
			}
		}
	}
	for path, needs := range map[string]apitoken.Scope{
		"jobs/wait-0/cancel": apitoken.Submit, "ask": apitoken.Submit, "documents/upload": apitoken.Submit,
		"change-jobs": apitoken.Submit, "jobs/" + w.failed + "/retry": apitoken.Operate,
		"dead-letters/" + w.letter + "/replay": apitoken.Operate, "dead-letters/" + w.letter + "/delete": apitoken.Operate,
		"dead-letters/replay": apitoken.Operate, "documents/" + w.document + "/delete": apitoken.Operate,
		"webhooks/" + w.delivery + "/resend": apitoken.Operate, "doctor": apitoken.Operate,
		"new-schedule": apitoken.Operate, "schedules/" + w.schedule + "/remove": apitoken.Operate,
	} {
		for _, scope := range []apitoken.Scope{apitoken.Read, apitoken.Submit} {
			if scope < needs {
				v := b.visit(scope.String())
				v.want(v.post(path, "action", "cancel", "id", "wait-0"), http.StatusForbidden, "Not allowed")
			}
		}
	}
	v := b.visit("submit")
	v.want(v.post("change-jobs", "action", "retry", "id", w.failed), http.StatusForbidden)
}

// A link signs in once; who has no token gets none.
func TestLinks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.visit("")
	path := strings.TrimPrefix(v.link(b.tokens["submit"]), dashboard.Root+"/")
	v.want(v.get(path), http.StatusOK, "You are signed in")
	v.want(v.get("jobs"), http.StatusOK, "frontend")
	other := b.visit("")
	other.want(other.get(path), http.StatusUnauthorized, "used already")
	other.want(other.get("jobs"), http.StatusOK, "Sign in")
	for _, token := range []string{"", "wrong"} {
		other.want(other.do(http.MethodPost, "link", nil, "Authorization", "Bearer "+token), http.StatusUnauthorized)
	}
	// A link of a token that was taken away is of no use.
	path = strings.TrimPrefix(v.link(b.tokens["submit"]), dashboard.Root+"/")
	b.api.SetTokens(nil)
	other.want(other.get(path), http.StatusUnauthorized)
}

// While a project's keys can't be read, nobody is told that his token is invalid, and no session ends.
func TestKeysThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *api.Deps) {
		d.Auth.JWT = &api.JWTConfig{Issuer: "https://project.example/auth/v1", Fetch: func(context.Context, string) ([]byte, error) {
			return nil, errors.New("no answer")
		}}
	})
	part := base64.RawURLEncoding.EncodeToString
	token := part([]byte(`{"alg":"ES256","kid":"k"}`)) + "." + part([]byte(`{"sub":"user-17"}`)) + "." + part(make([]byte, 64))
	v := b.visit("")
	a := v.want(v.do(http.MethodPost, "link", nil, "Authorization", "Bearer "+token), http.StatusServiceUnavailable, "try again")
	if a.header.Get("Retry-After") == "" || a.header.Get("WWW-Authenticate") != "" {
		t.Errorf("answered with %v", a.header)
	}
	v.want(v.post("login", "token", token), http.StatusUnauthorized, "try again")
}
