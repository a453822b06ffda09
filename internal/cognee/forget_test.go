package cognee_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// TestForget: forgetting twice, or in a dataset that is gone, is no error.
func TestForget(t *testing.T) {
	t.Parallel()
	s := cogneetest.New(t, cogneetest.Options{})
	c := newClient(t, s.URL())
	doc := document("one")
	placed := put(t, c, doc)
	for range 2 {
		if err := c.Forget(t.Context(), placed.DatasetID, placed.DataID); err != nil {
			t.Error(err)
		}
	}
	put(t, c, doc)
	for range 2 {
		if _, err := c.ForgetDocument(t.Context(), doc.Dataset, doc.ID); err != nil {
			t.Error(err)
		}
	}
	if rows := s.Rows(); len(rows) != 0 {
		t.Errorf("Cognee has %+v", rows)
	}
	s.Remove(doc.Dataset)
	if err := c.Forget(t.Context(), placed.DatasetID, placed.DataID); err != nil {
		t.Error(err)
	}
}

const page = "<html>a proxy's page</html>"

// TestForgetProxied: what a proxy answers is not a deletion, and an answer of Cognee is one, whatever its JSON.
func TestForgetProxied(t *testing.T) {
	t.Parallel()
	const forget, list, items = cogneetest.Forget, cogneetest.List, cogneetest.Items
	for name, c := range map[string]struct {
		fault cogneetest.Fault
		at    []string
		want  string // in the error; empty: none
	}{
		"404 for everything":         {cogneetest.Fault{Status: 404, Body: page}, []string{forget, list, items}, "COGNEE_URL"},
		"404 for forget":             {cogneetest.Fault{Status: 404, Body: page}, []string{forget}, "lists the document"},
		"404 for forget and rows":    {cogneetest.Fault{Status: 404, Body: page}, []string{forget, items}, "page by page"},
		"a page for everything":      {cogneetest.Fault{Status: 200, Body: page}, []string{forget, list, items}, "COGNEE_URL"},
		"a page for forget":          {cogneetest.Fault{Status: 200, Body: page}, []string{forget}, "does not take the request"},
		"404 for what is not there":  {cogneetest.Fault{Status: 404, After: true}, []string{forget}, ""},
		"null":                       {cogneetest.Fault{Status: 200, Body: "null", After: true}, []string{forget}, ""},
		"an object of another shape": {cogneetest.Fault{Status: 202, Body: `{"ok":[1]}`, After: true}, []string{forget}, ""},
		"no body":                    {cogneetest.Fault{Status: 200, Body: "\n", After: true}, []string{forget}, ""},
		"no content":                 {cogneetest.Fault{Status: 204, Body: "\n", After: true}, []string{forget}, ""},
	} {
		s := cogneetest.New(t, cogneetest.Options{Fault: func(endpoint string, _ *http.Request) *cogneetest.Fault {
			if slices.Contains(c.at, endpoint) {
				return &c.fault
			}
			return nil
		}})
		client, doc := newClient(t, s.URL()), document("one")
		placed := put(t, client, doc)
		err := client.Forget(t.Context(), placed.DatasetID, placed.DataID)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if there := len(s.Rows()[doc.ID]) > 0; there != (c.want != "") {
			t.Errorf("%s: Cognee has it: %t", name, there)
		}
	}
}

// TestForgetUnlistable: a proxy's 404 for the rows of a dataset does not mean that a document is not there.
func TestForgetUnlistable(t *testing.T) {
	t.Parallel()
	s := cogneetest.New(t, cogneetest.Options{Fault: func(endpoint string, _ *http.Request) *cogneetest.Fault {
		if endpoint == cogneetest.Items {
			return &cogneetest.Fault{Status: http.StatusNotFound, Body: page}
		}
		return nil
	}})
	c, doc := newClient(t, s.URL()), document("one")
	put(t, c, doc)
	if _, err := c.ForgetDocument(t.Context(), doc.Dataset, doc.ID); err == nil || !strings.Contains(err.Error(), "page by page") {
		t.Errorf("got %v", err)
	}
}

// TestLoopForgetsBehindProxy: a deletion waits while a proxy answers for Cognee, and is done in the end.
func TestLoopForgetsBehindProxy(t *testing.T) {
	t.Parallel()
	proxied := 0
	b := newBed(t, cogneetest.Options{Fault: func(endpoint string, _ *http.Request) *cogneetest.Fault {
		if endpoint != cogneetest.Forget || proxied >= 4 {
			return nil
		}
		proxied++
		return &cogneetest.Fault{Status: []int{404, 200}[proxied%2], Body: page}
	}})
	b.ingest("s", "a.pdf", "one")
	b.run(b.config(), b.settled)
	b.delete("s", "a.pdf")
	b.run(b.config(), b.settled)
	b.equal()
}

// TestForgetProxiedHoldsUpNothing: deletions that a proxy answers with 404 are counted, and other documents are sent.
func TestForgetProxiedHoldsUpNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t, cogneetest.Options{Fault: func(endpoint string, _ *http.Request) *cogneetest.Fault {
		if endpoint == cogneetest.Forget {
			return &cogneetest.Fault{Status: http.StatusNotFound, Body: page}
		}
		return nil
	}})
	names := []string{"1.pdf", "2.pdf", "3.pdf", "4.pdf"}
	for _, name := range names {
		b.ingest("s", name, "text of "+name)
	}
	b.run(b.config(), b.settled)
	for _, name := range names {
		b.delete("s", name)
	}
	added := b.ingest("s", "new.pdf", "text")
	b.run(b.config(), func() bool { return b.count(store.CogneeRetry) >= 16 && len(b.server.Rows()[added]) == 1 })
	s := b.state()
	if s.DownSince != nil || s.Pending != len(names) {
		t.Errorf("state %+v", s)
	}
}
