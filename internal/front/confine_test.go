package front_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// beyond are headers that act on more than the response that has them: on all that a browser has of the origin, on another
// path, or on what nginx, Apache or Lighttpd answer.
var beyond = []string{
	"Clear-Site-Data", "Service-Worker-Allowed", "NEL", "Report-To", "Reporting-Endpoints", "Alt-Svc",
	"Strict-Transport-Security", "Accept-CH", "Speculation-Rules", "Refresh", "Link", "Content-Location",
	"Content-Security-Policy-Report-Only", "Secure-Session-Registration", "Sec-Session-Registration", "HX-Redirect",
	"HX-Location", "HX-Push-Url", "HX-Replace-Url", "HX-Refresh", "X-Accel-Redirect", "X-Accel-Limit-Rate", "X-Sendfile",
	"X-LIGHTTPD-send-file",
}

// A worker sets its own session for its own path and nothing else, tells browsers and proxies nothing about other
// paths, and its pages run no script but the proxy's, whatever it answers.
func TestConfined(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.up("southhaven", func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		for _, c := range []string{
			"async_worker_southhaven=token; Path=/; Domain=api.example; SameSite=None", "async_worker_east-bay=stolen; Path=/t/east-bay",
			"a=b; Path=/",
		} {
			h.Add("Set-Cookie", c)
		}
		h.Set("Content-Security-Policy", "script-src *")
		h.Add("Content-Security-Policy", "img-src 'none'; Report-URI /t/east-bay/dashboard/jobs/x/cancel")
		for _, name := range beyond {
			h.Set(name, "anything")
		}
		h.Set("X-Accel-Buffering", "no")
		h.Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<script>steal()</script>")
	})
	for _, proto := range []string{"http", "https"} {
		resp, _ := b.get("/t/southhaven/dashboard/", "X-Forwarded-Proto: "+proto)
		c := resp.Cookies()
		if len(c) != 1 || c[0].Name != "async_worker_southhaven" || c[0].Path != "/t/southhaven" || c[0].Domain != "" || !c[0].HttpOnly ||
			c[0].SameSite != http.SameSiteStrictMode || c[0].Secure != (proto == "https") {
			t.Errorf("%s: %+v", proto, c)
		}
		policies := resp.Header.Values("Content-Security-Policy")
		if len(policies) != 2 || !strings.Contains(policies[1], "script-src api.example/t/southhaven/dashboard/static/;") ||
			!strings.Contains(policies[1], "form-action api.example/t/southhaven/;") ||
			!strings.Contains(policies[1], "connect-src api.example/t/southhaven/;") || resp.Header.Get("X-Accel-Buffering") != "no" {
			t.Errorf("%v", resp.Header)
		}
		for _, name := range beyond {
			if resp.Header.Get(name) != "" {
				t.Errorf("%s passes", name)
			}
		}
	}
	if resp, body := b.get("/t/southhaven/dashboard/static/x/app.js"); resp.StatusCode != http.StatusOK || body != "the proxy's" {
		t.Errorf("a file is the worker's: %d %s", resp.StatusCode, body)
	}
	for _, host := range []string{"api.example:8443", "[::1]:8443"} {
		resp, _ := b.raw("GET /t/southhaven/x HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n")
		if p := resp.Header.Values("Content-Security-Policy"); len(p) != 2 ||
			!strings.Contains(p[1], "form-action "+host+"/t/southhaven/;") || !strings.Contains(p[1], "script-src "+host+"/") {
			t.Errorf("%s: pages can't send their forms: %v", host, p)
		}
	}
	resp, _ := b.raw("GET /t/southhaven/x HTTP/1.1\r\nHost: a;script-src\r\nConnection: close\r\n\r\n")
	if p := resp.Header.Values("Content-Security-Policy"); resp.StatusCode == http.StatusOK && !strings.Contains(p[1], "script-src 'none'") {
		t.Errorf("an odd host: %v", p)
	}
}

// What comes before the response, and parts with headers of their own, are not confined: no browser sees them.
func TestUnconfinedForms(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.up("southhaven", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</t/east-bay/dashboard/>; rel=preload; as=image")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Content-Type", "Multipart/X-Mixed-Replace; boundary=x")
		_, _ = io.WriteString(w, "--x\r\nSet-Cookie: async_worker_east-bay=stolen; Path=/t/east-bay\r\n\r\nx\r\n--x--")
	})
	resp, _ := b.get("/t/southhaven/x")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
}
