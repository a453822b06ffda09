package stack

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

type afterEnd struct{ *testing.T }

func (e afterEnd) Read([]byte) (int, error) {
	e.Error("the body is read after its end")
	return 0, http.ErrBodyReadAfterClose
}

// A server's body returns an error to whoever reads it after the response has begun, and net/http would then cut the
// response: nothing reads it after its last byte.
func TestBodyIsNotReadAfterItsEnd(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || string(body) != "{}" {
			t.Errorf("it got %q, %v", body, err)
		}
		_, _ = io.WriteString(w, "an answer")
	}))
	defer server.Close()
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := &PostgREST{url: address, transport: &http.Transport{DisableKeepAlives: true}}
	body := io.MultiReader(strings.NewReader("{}"), afterEnd{t})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/rest/v1/rpc/f", body)
	r.ContentLength = 2
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Body.String() != "an answer" {
		t.Errorf("it answered %d %q", w.Code, w.Body)
	}
}
