package httpd_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpd"
)

// worker is the table of a worker: an index, a probe, what is guarded, and an endpoint that authorizes by itself.
var worker = httpd.Routes{Name: "async-worker", About: about, Endpoints: []httpd.Endpoint{
	{Pattern: "GET /livez", For: "whether it lives", Access: httpd.OpenBrief, Handler: answers},
	{Pattern: "GET /metrics", For: "metrics", Access: httpd.WithToken, Handler: answers},
	{Pattern: "/v1/", For: "the HTTP API", Access: httpd.Own, Handler: answers},
}}

// What who may ask where: an address that others reach shows health and the API without HTTP_TOKEN, and no more; on
// loopback this machine needs none.
func TestWhoMayAskWhere(t *testing.T) {
	t.Parallel()
	const local, reachable, named = "127.0.0.1:9090", "0.0.0.0:9090", "worker.example:9090"
	const here, dns = "localhost:9090", "worker.example:9090"
	for _, c := range []struct {
		addr, token, host, path, bearer string
		want                            int
		told                            bool // version and tenant: it is trusted
	}{
		{local, "", here, "/livez", "", http.StatusOK, false},
		{local, "", here, "/metrics", "", http.StatusOK, false},
		{local, "", here, "/", "", http.StatusOK, true},
		{local, "", here, "/v1/jobs", "", http.StatusOK, false},
		{local, "", dns, "/livez", "", http.StatusMisdirectedRequest, false},
		{local, "", dns, "/metrics", "", http.StatusMisdirectedRequest, false},
		{local, "", dns, "/", "", http.StatusMisdirectedRequest, false},
		{local, "", dns, "/v1/jobs", "", http.StatusOK, false},
		{"[::1]:9090", "", here, "/metrics", "", http.StatusOK, false},
		{reachable, "", dns, "/livez", "", http.StatusOK, false},
		{reachable, "", dns, "/", "", http.StatusOK, false},
		{reachable, "", dns, "/v1/jobs", "", http.StatusOK, false},
		{reachable, "", dns, "/livez?verbose", "", http.StatusUnauthorized, false},
		{reachable, "", dns, "/metrics", "", http.StatusUnauthorized, false},
		{reachable, "", dns, "/nothing", "", http.StatusUnauthorized, false},
		{reachable, "", here, "/", "", http.StatusOK, false}, // whatever its Host says
		{reachable, "", here, "/metrics", "", http.StatusUnauthorized, false},
		{reachable, "", here, "/metrics", token, http.StatusUnauthorized, false},
		{":9090", "", here, "/metrics", "", http.StatusUnauthorized, false},
		{"[::]:9090", "", "[::1]:9090", "/metrics", "", http.StatusUnauthorized, false},
		{"", "", here, "/metrics", "", http.StatusUnauthorized, false},
		{named, "", here, "/", "", http.StatusOK, false},
		{named, "", dns, "/metrics", "", http.StatusUnauthorized, false},
		{reachable, token, dns, "/metrics", token, http.StatusOK, false},
		{reachable, token, dns, "/", token, http.StatusOK, true},
		{reachable, token, dns, "/", "", http.StatusOK, false},
		{reachable, token, dns, "/livez", "", http.StatusOK, false},
		{reachable, token, here, "/metrics", "", http.StatusUnauthorized, false},
		{local, token, here, "/metrics", "", http.StatusUnauthorized, false},
		{local, token, dns, "/livez", "", http.StatusOK, false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, http.NoBody)
		r.Host = c.host
		if c.bearer != "" {
			r.Header.Set("Authorization", "Bearer "+c.bearer)
		}
		w := httptest.NewRecorder()
		httpd.NewGuard(httpd.Config{
			Addr: c.addr, Token: c.token, Open: worker.Open, Own: worker.Own, Handler: worker.Handler(), Log: quiet,
		}).ServeHTTP(w, r)
		told, says := strings.Contains(w.Body.String(), about), strings.Contains(w.Body.String(), "set HTTP_TOKEN")
		closed := c.want == http.StatusUnauthorized && c.token == ""
		if w.Code != c.want || told != c.told || says != closed {
			t.Errorf("%+v: %d %s", c, w.Code, w.Body)
		}
		if c.want == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%+v: the response does not say how to authenticate", c)
		}
	}
}

// The same over connections: without a token nobody is trusted on an address that others reach, also from this machine.
func TestReachableWithoutToken(t *testing.T) {
	t.Parallel()
	for addr, free := range map[string]bool{"0.0.0.0:0": false, "127.0.0.1:0": true, "localhost:0": true} {
		s, _ := serve(t, httpd.Config{Addr: addr, Handler: worker.Handler(), Open: worker.Open, Own: worker.Own})
		_, port, err := net.SplitHostPort(s.Addrs()[0].String())
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		for path, want := range map[string]int{
			"/livez": http.StatusOK, "/v1/jobs": http.StatusOK, "/": http.StatusOK,
			"/metrics": map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[free],
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != want || strings.Contains(string(text), about) != (free && path == "/") {
				t.Errorf("%s%s: %d %s, %v", addr, path, resp.StatusCode, text, err)
			}
		}
	}
}
