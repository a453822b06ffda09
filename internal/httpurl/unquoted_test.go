package httpurl_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/httpurl/httpurltest"
)

// TestUnquoted: no error of an answer that is not HTTP quotes it, or the query of the request.
func TestUnquoted(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"no HTTP":          "Mustermann owes 9,876.11\r\n\r\n",
		"a version":        "HTTP/Mustermann 200 OK\r\n\r\n",
		"a status":         "HTTP/1.1 Mustermann\r\n\r\n",
		"a header":         "HTTP/1.1 200 OK\r\nMustermann owes 9,876.11\r\n\r\n",
		"a length":         "HTTP/1.1 200 OK\r\nContent-Length: Mustermann\r\n\r\n",
		"an encoding":      "HTTP/1.1 200 OK\r\nTransfer-Encoding: Mustermann\r\n\r\n",
		"another chunk":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nMustermann\r\n\r\n",
		"nothing":          "",
		"half of a header": "HTTP/1.1 200 OK\r\nMuster",
	} {
		response, err := http.Get(httpurltest.Raw(t, answer) + "/?key=s3cret")
		if err == nil {
			_, err = io.ReadAll(response.Body)
			_ = response.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if got := httpurl.Unquoted(err).Error(); strings.Contains(got, "Muster") || strings.Contains(got, "s3cret") || got == "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	refused := &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	if got := httpurl.Unquoted(refused); !errors.Is(got, syscall.ECONNREFUSED) {
		t.Errorf("an error of the network: %v", got)
	}
}
