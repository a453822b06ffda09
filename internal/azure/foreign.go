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

// authentic returns a transport over next that fails with a *ForeignError if an answer of success has none of the headers
// that each answer of Azure Storage, and of Azurite, has (x-ms-request-id, x-ms-version). Other statuses come from proxies
// that say what they mean, too.
func authentic(next http.RoundTripper) http.RoundTripper { return authenticated{next} }

type authenticated struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (a authenticated) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := a.next.RoundTrip(r)
	if err != nil || answer.StatusCode/100 != 2 {
		return answer, err
	}
	for name := range answer.Header {
		if strings.HasPrefix(name, "X-Ms-") {
			return answer, nil
		}
	}
	_ = answer.Body.Close() // nobody reads it
	return nil, &ForeignError{Host: r.URL.Host, Status: answer.StatusCode}
}

// CloseIdleConnections forwards http.Client's call.
func (a authenticated) CloseIdleConnections() {
	(&http.Client{Transport: a.next}).CloseIdleConnections()
}
