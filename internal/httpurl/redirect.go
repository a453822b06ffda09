package httpurl

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// RedirectError says that a service answered with a redirect to another origin, which SameOrigin did not follow. It
// holds no path and no query of the two addresses.
type RedirectError struct {
	Setting  string // the setting with the address of the service
	From, To string // origins: scheme://host[:port]
}

// Error implements error.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("%s answered with a redirect to %s; set %s to the final address", e.From, e.To, e.Setting)
}

// NonRetriable tells azcore, which looks for this method, that another request would end in the same way.
func (*RedirectError) NonRetriable() {}

// SameOrigin returns a transport over next that fails with a *RedirectError if an answer redirects to another origin
// (RFC 6454: scheme, host and port). An http.Client that followed it would send the credentials along: it keeps all
// headers except Authorization and cookies, and repeats the body. A redirect within the origin is left to the client.
// setting names the setting with the address of the service. A nil next is Transport(). Requests have the
// Patience of their context, if it has one.
func SameOrigin(next http.RoundTripper, setting string) http.RoundTripper {
	if next == nil {
		next = Transport()
	}
	return sameOrigin{next, setting}
}

type sameOrigin struct {
	next    http.RoundTripper
	setting string
}

// RoundTrip implements http.RoundTripper.
func (s sameOrigin) RoundTrip(r *http.Request) (*http.Response, error) {
	from := r.URL
	answer, err := patiently(r, s.setting, s.next)
	if err != nil || answer.StatusCode/100 != 3 {
		return answer, err
	}
	to := from
	if location, err := from.Parse(answer.Header.Get("Location")); err == nil { // else the client reports it
		to = location
	}
	if origin(from) == origin(to) {
		return answer, nil
	}
	_ = answer.Body.Close() // nobody reads it
	return nil, &RedirectError{Setting: s.setting, From: origin(from), To: origin(to)}
}

// CloseIdleConnections forwards http.Client's call.
func (s sameOrigin) CloseIdleConnections() { (&http.Client{Transport: s.next}).CloseIdleConnections() }

// maxHost is the longest host, in bytes, that an error repeats: that of a domain name (RFC 1035), and a port.
const maxHost = 253 + len(":65535")

// origin returns the origin of an address, without a default port.
func origin(u *url.URL) string {
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	host = strings.TrimSuffix(host, map[string]string{"http": ":80", "https": ":443"}[scheme])
	if len(host) > maxHost {
		host = host[:maxHost] + "…"
	}
	return (&url.URL{Scheme: scheme, Host: host}).String() // escapes what a terminal would interpret
}
