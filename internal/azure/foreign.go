package azure

import (
	"fmt"
	"net/http"
	"strings"
)

// ForeignError reports an answer of success that is not Azure Storage's: the sign-in, block or maintenance page of a
// proxy, or another server at the address. Taken for Azure's, such a page is an empty queue, or the content of a blob.
type ForeignError struct {
	Host   string
	Status int
}

// Error implements error.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("an answer (HTTP %d) that is not Azure Storage's came from %s: no x-ms-request-id; is there a proxy that "+
		"answers with a page of its own, or another server at the address in the settings?", e.Status, e.Host)
}

// authentic returns a transport over next that fails with a *ForeignError for what is not an answer of storage. Other
// statuses than those of success come from proxies that say what they mean, too.
func authentic(next http.RoundTripper) http.RoundTripper { return authenticated{next} }

type authenticated struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (a authenticated) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := a.next.RoundTrip(r)
	if err != nil || answer.StatusCode/100 != 2 {
		return answer, err
	}
	if ofStorage(answer) {
		return answer, nil
	}
	_ = answer.Body.Close() // nobody reads it
	return nil, &ForeignError{Host: r.URL.Host, Status: answer.StatusCode}
}

// ofStorage reports whether an answer of success can be storage's. Each of Azure's and of Azurite's has x-ms- headers
// (x-ms-request-id, x-ms-version). Of other servers with this protocol those are taken that a proxy doesn't send with a
// page: statuses other than 200, XML, and what has an ETag and is no HTML.
func ofStorage(answer *http.Response) bool {
	for name := range answer.Header {
		if strings.HasPrefix(name, "X-Ms-") {
			return true
		}
	}
	kind := answer.Header.Get("Content-Type")
	return answer.StatusCode != http.StatusOK || strings.Contains(kind, "xml") && !strings.Contains(kind, "html") ||
		answer.Header.Get("Etag") != "" && !strings.HasPrefix(kind, "text/html")
}

// CloseIdleConnections forwards http.Client's call.
func (a authenticated) CloseIdleConnections() {
	(&http.Client{Transport: a.next}).CloseIdleConnections()
}
