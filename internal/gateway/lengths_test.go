package gateway_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/gateway"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestLyingLengths: an answer counts only if the body is as long as its header says, whatever the XML in it looks like.
func TestLyingLengths(t *testing.T) {
	t.Parallel()
	const body = "<invoice><total>1</total></invoice>"
	for name, x := range map[string]struct {
		header string
		ok     bool
	}{
		"right":            {fmt.Sprintf("Content-Length: %d", len(body)), true},
		"longer":           {fmt.Sprintf("Content-Length: %d", len(body)+1), false},
		"shorter":          {fmt.Sprintf("Content-Length: %d", len(body)-1), false},
		"nothing":          {"Content-Length: 0", false},
		"negative":         {"Content-Length: -1", false},
		"two of them":      {"Content-Length: 5\r\nContent-Length: 35", false},
		"beyond int64":     {"Content-Length: 9223372036854775808", false},
		"chunks of no end": {"Transfer-Encoding: chunked", false}, // the body is not chunked
		"not compressed":   {fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d", len(body)), false},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_ = r.ParseMultipartForm(1 << 20)
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			answer(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/xml\r\n"+x.header+"\r\n\r\n"+body)
		}))
		client, err := gateway.New(gateway.Options{URL: server.URL, HTTP: server.Client()})
		if err != nil {
			t.Fatal(err)
		}
		in := filepath.Join(t.TempDir(), "in.pdf")
		if err := os.WriteFile(in, []byte(pdf), 0o600); err != nil {
			t.Fatal(err)
		}
		into := in + ".xml"
		_, err = client.Process(t.Context(), gateway.Call{
			Path: in, Format: gateway.PDF, Accept: gateway.XML, Mapping: gateway.DefaultMapping, Into: into,
		})
		server.Close()
		_, missing := os.Stat(into)
		switch {
		case x.ok && (err != nil || missing != nil):
			t.Errorf("%s: %v, %v", name, err, missing)
		case !x.ok && (err == nil || missing == nil || taskerr.Classify(err).Code != gateway.Code5XX):
			t.Errorf("%s: it is taken, or leaves a file: %v, %v", name, err, missing)
		case !x.ok && strings.Contains(err.Error(), "<total>"):
			t.Errorf("%s: the error quotes the answer: %v", name, err)
		}
	}
}

// answer sends raw bytes, and ends the connection.
func answer(conn net.Conn, text string) {
	_, _ = conn.Write([]byte(text)) // fails only if the client is gone
	_ = conn.Close()
}
