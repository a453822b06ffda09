package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/dashboard"
)

// deadlines records until when the answer may be written.
type deadlines struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.until = t
	return nil
}

// A change of many jobs takes longer than the server lets a page take, and what became of it is told all the same.
func TestBulkTakesItsTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.begin("job-1", "ingest", `{"filename":"a.pdf","document_set":"s"}`)
	for path, form := range map[string]string{"jobs/bulk": "action=cancel&id=job-1", "dead-letters/replay": "limit=1&rate=6"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, dashboard.Root+"/"+path, strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.AddCookie(&http.Cookie{Name: "async_worker_" + tenant, Value: b.tokens["operate"]})
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		b.pages.ServeHTTP(w, r)
		if w.Code >= http.StatusBadRequest || time.Until(w.until) < time.Minute {
			t.Errorf("%s: %d, and the answer may be written until %s", path, w.Code, w.until)
		}
	}
}
