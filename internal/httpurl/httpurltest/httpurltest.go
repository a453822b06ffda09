// Package httpurltest has services that redirect to another host, or answer with something that is not HTTP, for the
// tests of clients.
package httpurltest

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

// Redirect is a service that answers every request with a redirect to another service.
type Redirect struct {
	URL       string // of the service that redirects
	setting   string
	elsewhere string
}

// NewRedirect starts both services. The test fails when the other one receives a request. setting names the setting
// with the address of the service.
func NewRedirect(t *testing.T, setting string) Redirect {
	t.Helper()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the client followed the redirect: %s %s with the header %v", r.Method, r.URL, r.Header)
	}))
	t.Cleanup(elsewhere.Close)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(service.Close)
	return Redirect{URL: service.URL, setting: setting, elsewhere: elsewhere.URL}
}

// Check fails the test unless err is the client's refusal to follow the redirect, and names the host and the setting.
func (r Redirect) Check(t *testing.T, err error) {
	t.Helper()
	redirect, ok := errors.AsType[*httpurl.RedirectError](err)
	if !ok {
		t.Fatalf("the client reported no redirect: %v", err)
	}
	if redirect.Setting != r.setting || redirect.From != r.URL || redirect.To != r.elsewhere {
		t.Errorf("the redirect is %+v, want %s, %s to %s", *redirect, r.setting, r.URL, r.elsewhere)
	}
	r.CheckText(t, err.Error())
}

// CheckText fails the test unless a message names the host and the setting.
func (r Redirect) CheckText(t *testing.T, message string) {
	t.Helper()
	for _, part := range []string{r.elsewhere, r.setting} {
		if !strings.Contains(message, part) {
			t.Errorf("the message %q does not contain %s", message, part)
		}
	}
}
