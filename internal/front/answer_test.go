package front_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// strict is a body that is not asked again after its last byte. A server's would return an error by then if the
// response has begun.
type strict struct {
	*testing.T
	text *strings.Reader
}

func (s *strict) Read(b []byte) (int, error) {
	if s.text.Len() == 0 {
		s.Error("the body is read after its end")
		return 0, http.ErrBodyReadAfterClose
	}
	return s.text.Read(b)
}

func (*strict) Close() error { return nil }

// recorder takes deadlines, as a connection does.
type recorder struct{ *httptest.ResponseRecorder }

func (recorder) SetReadDeadline(time.Time) error  { return nil }
func (recorder) SetWriteDeadline(time.Time) error { return nil }

// A worker that has the whole body and answers at once is heard to the end: nothing reads the client's body while the
// response is on its way.
func TestBodyIsNotReadAfterItsEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	answer := strings.Repeat("a long answer\n", 10_000)
	b.up("southhaven", func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || string(body) != "{}" {
			t.Errorf("the worker got %q, %v", body, err)
		}
		_, _ = io.WriteString(w, answer)
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/t/southhaven/v1/jobs", &strict{t, strings.NewReader("{}")})
	r.ContentLength = 2
	w := recorder{httptest.NewRecorder()}
	b.front.ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Body.String() != answer {
		t.Errorf("it answered %d and %d bytes, want %d", w.Code, w.Body.Len(), len(answer))
	}
}
