package httpurl_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/httpurl/httpurltest"
)

// answer is a transport that redirects every request to one place, and answers there.
type answer struct {
	status   int
	location string
	requests *int
}

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	*a.requests++
	resp := &http.Response{StatusCode: a.status, Header: http.Header{}, Body: http.NoBody}
	if a.location != "" && *a.requests == 1 {
		resp.Header.Set("Location", a.location)
	} else if *a.requests > 1 {
		resp.StatusCode = http.StatusOK
	}
	return resp, nil
}

func TestSameOrigin(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 10_000)
	for _, c := range []struct {
		address, location string
		status            int
		to                string // of the error; empty: the redirect is followed, or the answer returned
		requests          int
	}{
		{"https://h/v1", "/v2", 307, "", 2},
		{"https://h/v1", "v2", 301, "", 2},
		{"https://h/v1", "https://H:443/v2", 308, "", 2},
		{"http://h:80/v1", "http://h/v2", 302, "", 2},
		{"https://h/v1", "", 304, "", 1},
		{"https://h/v1", "https://elsewhere/", 200, "", 1}, // not a redirect
		{"https://h/v1", "https://elsewhere/?key=secret", 307, "https://elsewhere", 1},
		{"https://h/v1", "//elsewhere:9/", 303, "https://elsewhere:9", 1},
		{"https://h/v1", "http://h/v1", 308, "http://h", 1},
		{"https://h/v1", "https://h:444/v1", 301, "https://h:444", 1},
		{"https://h/v1", "https://user:pass@elsewhere/", 302, "https://elsewhere", 1},
		{"https://h/v1", "https://h.elsewhere/", 302, "https://h.elsewhere", 1},
		{"https://h/v1", "https://a%E2%80%AEb/", 302, "https://a%E2%80%AEb", 1},
		{"https://h/v1", "https://" + long + "/", 302, "https://" + long[:259] + "%E2%80%A6", 1},
	} {
		requests := 0
		client := &http.Client{Transport: httpurl.SameOrigin(answer{c.status, c.location, &requests}, "X_URL")}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.address, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(request)
		if err == nil {
			_ = resp.Body.Close()
		}
		redirect, refused := errors.AsType[*httpurl.RedirectError](err)
		switch {
		case requests != c.requests || refused != (c.to != "") || !refused && err != nil:
			t.Errorf("%s to %s: %d requests, then %v", c.address, c.location, requests, err)
		case refused && redirect.To != c.to:
			t.Errorf("%s to %s: the error names %s, want %s", c.address, c.location, redirect.To, c.to)
		}
	}
}

func TestSameOriginReal(t *testing.T) {
	t.Parallel()
	service := httpurltest.NewRedirect(t, "X_URL")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, service.URL, strings.NewReader("secret"))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: httpurl.SameOrigin(http.DefaultTransport.(*http.Transport).Clone(), "X_URL")}
	t.Cleanup(client.CloseIdleConnections)
	resp, err := client.Do(request)
	if err == nil {
		_ = resp.Body.Close()
	}
	service.Check(t, err)
}
