package cognee_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// TestLoopRefusals: a document that Cognee refuses does not hold up the others.
func TestLoopRefusals(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	b := newBed(t, cogneetest.Options{Fault: func(endpoint string, r *http.Request) *cogneetest.Fault {
		if endpoint != cogneetest.Add {
			return nil
		}
		if r.ParseMultipartForm(1<<20) == nil && strings.Contains(r.MultipartForm.Value["external_metadata"][0], "bad.pdf") {
			return &cogneetest.Fault{Status: 413, Body: `{"detail": "the secret text"}`}
		}
		return nil
	}})
	bad := b.ingest("s", "bad.pdf", "the secret text")
	for _, name := range []string{"1.pdf", "2.pdf", "3.pdf", "4.pdf", "5.pdf"} {
		b.ingest("s", name, "text of "+name)
	}
	cfg := b.config()
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	b.run(cfg, b.settled)
	s := b.state()
	if len(b.server.Rows()) != 5 || s.Refused != 1 || s.Troubled[0].DocumentID != bad || s.DownSince != nil {
		t.Errorf("%d rows, state %+v", len(b.server.Rows()), s)
	}
	if !strings.Contains(log.String(), bad) || strings.Contains(log.String()+s.Troubled[0].LastError, "secret") {
		t.Errorf("log %s, error %s", log.String(), s.Troubled[0].LastError)
	}
}

// TestLoopRefusedByFirewall: a document that is answered as if the key or the address were wrong is no outage while Cognee
// answers others: it is counted, and given up in the end.
func TestLoopRefusedByFirewall(t *testing.T) {
	t.Parallel()
	for _, fault := range []cogneetest.Fault{{Status: 401}, {Status: 403}, {Status: 200, Body: "<html>Blocked</html>"}} {
		b := newBed(t, cogneetest.Options{Fault: func(endpoint string, r *http.Request) *cogneetest.Fault {
			if endpoint == cogneetest.Add && r.ParseMultipartForm(1<<20) == nil &&
				strings.Contains(r.MultipartForm.Value["external_metadata"][0], "bad.pdf") {
				return &fault
			}
			return nil
		}})
		bad := b.ingest("s", "bad.pdf", "the secret text")
		b.exec(`update cognee_documents set attempts = 23`) // the next failure is its last
		for _, name := range []string{"1.pdf", "2.pdf", "3.pdf", "4.pdf", "5.pdf"} {
			b.ingest("s", name, "text of "+name)
		}
		var log bytes.Buffer
		cfg := b.config()
		cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
		b.run(cfg, b.settled)
		s := b.state()
		if n := len(b.server.Rows()); n != 5 || s.Failed != 1 || strings.Contains(log.String(), "Cognee is down") {
			t.Errorf("HTTP %d: %d rows, state %+v, log %s", fault.Status, n, s, log.String())
			continue
		}
		if d := s.Troubled[0]; d.DocumentID != bad || d.ResponseStatus != fault.Status || strings.Contains(d.LastError, "API_KEY") {
			t.Errorf("HTTP %d: %+v", fault.Status, d)
		}
	}
}

// TestLoopGivesUpAll: if Cognee takes none of the documents that are left, they are given up, and the outage that they
// made ends with the last of them.
func TestLoopGivesUpAll(t *testing.T) {
	t.Parallel()
	b := newBed(t, cogneetest.Options{Fault: func(endpoint string, _ *http.Request) *cogneetest.Fault {
		if endpoint == cogneetest.Add {
			return &cogneetest.Fault{Status: http.StatusInternalServerError}
		}
		return nil
	}})
	for _, name := range []string{"1.pdf", "2.pdf", "3.pdf", "4.pdf"} {
		b.ingest("s", name, "text of "+name)
	}
	b.exec(`update cognee_documents set attempts = 23`) // the next failure is the last
	b.run(b.config(), func() bool {
		return b.settled() && b.state().DownSince == nil || b.count(store.CogneeRetry) > 10
	})
	if s := b.state(); s.Failed != 4 || s.DownSince != nil || s.LastError != "" {
		t.Errorf("after %d more attempts: %+v", b.count(store.CogneeRetry), s)
	}
}

// TestForgetRefusedByFirewall: a deletion that a firewall refuses is given up in the end, and holds up no other set.
func TestForgetRefusedByFirewall(t *testing.T) {
	t.Parallel()
	b := newBed(t, cogneetest.Options{Fault: func(endpoint string, _ *http.Request) *cogneetest.Fault {
		if endpoint == cogneetest.Forget {
			return &cogneetest.Fault{Status: http.StatusForbidden, Body: page}
		}
		return nil
	}})
	b.ingest("a", "a.pdf", "one")
	b.run(b.config(), b.settled)
	b.delete("a", "a.pdf")
	b.exec(`update cognee_documents set attempts = 23`) // the next failure is its last
	b.ingest("b", "b.pdf", "two")
	b.run(b.config(), func() bool { return b.settled() || b.count(store.CogneeRetry) > 10 })
	s := b.state()
	if s.Failed != 1 || s.DownSince != nil || b.server.Cognified()["southhaven_b"] != 1 {
		t.Fatalf("runs of cognify: %v, state %+v", b.server.Cognified(), s)
	}
	if e := s.Troubled[0].LastError; !strings.Contains(e, "does not take the request (HTTP 403)") {
		t.Errorf("error %s", e)
	}
}

// TestCognifyRefusedByFirewall: a request about a dataset that something answers for Cognee, which lists the dataset, is
// counted and given up in the end, and makes no outage.
func TestCognifyRefusedByFirewall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		endpoint, change string
		fault            cogneetest.Fault
	}{
		"403":             {cogneetest.Cognify, `changes = changes + 1`, cogneetest.Fault{Status: 403, Body: page}},
		"a page":          {cogneetest.Cognify, `changes = changes + 1`, cogneetest.Fault{Status: 200, Body: page}},
		"404":             {cogneetest.Cognify, `changes = changes + 1`, cogneetest.Fault{Status: 404, Body: page}},
		"403 for its end": {cogneetest.Status, `state = 'running', asked_at = now() - interval '7 hours'`, cogneetest.Fault{Status: 403}},
	} {
		var on atomic.Bool
		b := newBed(t, cogneetest.Options{Fault: func(endpoint string, _ *http.Request) *cogneetest.Fault {
			if endpoint == c.endpoint && on.Load() {
				return &c.fault
			}
			return nil
		}})
		b.ingest("s", "a.pdf", "one")
		b.run(b.config(), b.settled)
		on.Store(true)
		b.exec(`update cognee_datasets set attempts = 23, ` + c.change) // the next failure is its last
		b.run(b.config(), func() bool { return b.settled() || b.state().DownSince != nil })
		s := b.state()
		if d := s.Datasets[0]; d.State != "failed" || s.DownSince != nil || d.LastError == "Cognee no longer has the dataset" {
			t.Errorf("%s: state %+v", name, s)
		}
	}
}
