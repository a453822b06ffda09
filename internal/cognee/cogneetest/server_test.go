package cogneetest

import (
	"bytes"
	"context"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestHungUp: what a client asked before it was killed takes effect only where the test wants that.
func TestHungUp(t *testing.T) {
	t.Parallel()
	for want, fault := range []*Fault{nil, {After: true}} {
		var form bytes.Buffer
		w := multipart.NewWriter(&form)
		file, err := w.CreateFormFile("data", "a.md")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = file.Write([]byte("text"))
		_ = w.WriteField("datasetName", "d")
		_ = w.WriteField("external_metadata", "[{}]")
		_ = w.Close()
		ctx, hangUp := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v1/add", &form)
		r.Header.Set("Content-Type", w.FormDataContentType())
		r.Header.Set("X-Api-Key", Key)
		hangUp()
		s := New(t, Options{Fault: func(string, *http.Request) *Fault { return fault }})
		s.http.Config.Handler.ServeHTTP(httptest.NewRecorder(), r)
		if got := len(s.Changes()); got != want {
			t.Errorf("with the fault %+v: %d changes, want %d", fault, got, want)
		}
	}
}
