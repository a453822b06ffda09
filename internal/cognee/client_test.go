package cognee_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
	"github.com/seed-7227ef26/async-worker/internal/httpurl/httpurltest"
)

func document(text string) cognee.Document {
	return cognee.Document{
		ID: "0b9d6f3e-5a55-4d53-9f0c-0f3a0a6b7c11", Dataset: "southhaven_s", DocumentSet: "s", Filename: "a.pdf",
		Version: 1, Text: write(text),
	}
}

func put(t *testing.T, c *cognee.Client, doc cognee.Document) cognee.Placed {
	t.Helper()
	placed, err := c.Put(t.Context(), doc)
	if err != nil {
		t.Fatal(err)
	}
	return placed
}

// TestPut: adding again changes nothing; other content replaces the document, whether its place is known or not.
func TestPut(t *testing.T) {
	t.Parallel()
	s := cogneetest.New(t, cogneetest.Options{})
	c := newClient(t, s.URL())
	first := put(t, c, document("one"))
	if again := put(t, c, document("one")); again != first || s.Repeated() != 1 {
		t.Errorf("added again: %+v, first %+v", again, first)
	}
	if at := put(t, c, document("two")); at.DataID != first.DataID || at.DatasetID != first.DatasetID {
		t.Errorf("replaced: %+v, first %+v", at, first)
	}
	known := document("three")
	known.DataID, known.DatasetID = first.DataID, first.DatasetID
	put(t, c, known)
	stale := document("four")
	stale.DataID, stale.DatasetID = uuid.NewString(), first.DatasetID // somebody removed it and added it again
	if at := put(t, c, stale); at.DataID != first.DataID {
		t.Errorf("with a place that is gone: %+v", at)
	}
	rows := s.Rows()[known.ID]
	if len(rows) != 1 || !strings.HasSuffix(rows[0].Content, "four") {
		t.Errorf("rows %+v", rows)
	}
}

// TestPutUnnamed: a conflict that does not say where the document is.
func TestPutUnnamed(t *testing.T) {
	t.Parallel()
	conflicts := 0
	s := cogneetest.New(t, cogneetest.Options{Fault: func(endpoint string, _ *http.Request) *cogneetest.Fault {
		if endpoint == cogneetest.Add {
			if conflicts++; conflicts > 1 {
				return &cogneetest.Fault{Status: http.StatusConflict, Body: `{"error": "Document already exists"}`}
			}
		}
		return nil
	}})
	c := newClient(t, s.URL())
	first := put(t, c, document("one"))
	if at := put(t, c, document("two")); at.DataID != first.DataID {
		t.Errorf("replaced: %+v, first %+v", at, first)
	}
}

// TestPutNodeSet: a document whose graph is there is replaced in part and keeps its node set, also when Cognee rebuilds
// every graph as a whole.
func TestPutNodeSet(t *testing.T) {
	t.Parallel()
	for _, rebuilds := range []bool{false, true} {
		s := cogneetest.New(t, cogneetest.Options{FullRebuilds: rebuilds})
		c := newClient(t, s.URL())
		doc := document("one")
		placed := put(t, c, doc)
		for _, text := range []string{"two", "three", "four"} {
			doc.Text, doc.DataID, doc.DatasetID = write(text), placed.DataID, placed.DatasetID
			put(t, c, doc)
			doc.InGraph = true // the first update has made a graph
			if got := s.Rows()[doc.ID][0].NodeSet; !slices.Equal(got, []string{"s", doc.ID}) {
				t.Errorf("rebuilds %t: node set %v", rebuilds, got)
			}
		}
		if got, want := s.Calls(cogneetest.Update), map[bool]int{false: 3, true: 4}[rebuilds]; got != want {
			t.Errorf("rebuilds %t: %d updates, want %d", rebuilds, got, want)
		}
	}
}

// TestPutBrokenOff: when the text can't be read to its end, Cognee takes nothing of it.
func TestPutBrokenOff(t *testing.T) {
	t.Parallel()
	s := cogneetest.New(t, cogneetest.Options{})
	c := newClient(t, s.URL())
	broken := errors.New("no more chunks")
	doc := document("")
	doc.Text = func(_ context.Context, w io.Writer) error {
		if _, err := io.WriteString(w, strings.Repeat("half of the text\n", 10_000)); err != nil {
			return err
		}
		return broken
	}
	if _, err := c.Put(t.Context(), doc); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if rows := s.Rows(); len(rows) != 0 {
		t.Errorf("Cognee has %+v", rows)
	}
}

// TestProblems: each failure says what is wrong, and quotes nothing that Cognee answers with.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{400, `{"detail":[{"type":"missing","loc":["body","data"],"msg":"secret","input":"secret"}],"body":"secret"}`, "HTTP 400, missing at [body data]"},
		{401, `{"detail":"secret"}`, "COGNEE_API_KEY"},
		{402, `{"error":"Token budget exhausted","detail":"secret"}`, "budget"},
		{404, `<html>secret</html>`, "COGNEE_URL"},
		{413, `secret`, "refuses it (HTTP 413)"},
		{429, ``, "asks to wait"},
		{500, `{"error":"Pipeline run errored","detail":"secret"}`, "HTTP 500, Pipeline run errored"},
		{500, `{"detail":"secret [SomeError]"}`, "HTTP 500, SomeError"},
		{500, `{"error":"can't add 'secret'"}`, "(HTTP 500)"},
		{500, `{"error":"secret 4711"}`, "(HTTP 500)"},
		{422, `{"detail":[{"type":"missing","loc":["body","a secret"]}]}`, "(HTTP 422)"},
		{422, `{"detail":[{"type":"a secret","loc":["body"]}]}`, "(HTTP 422)"},
		{200, `secret`, "COGNEE_URL"},
		{200, `{}`, "does not list it"},
		{302, ``, "COGNEE_URL"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/datasets") && c.body == `{}` {
				_, _ = io.WriteString(w, "[]")
				return
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		_, err := newClient(t, server.URL).Put(t.Context(), document("text"))
		server.Close()
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%d %s: %v, want %q", c.status, c.body, err, c.want)
		}
	}
}

// TestNoPages: a listing that has no end is given up.
func TestNoPages(t *testing.T) {
	t.Parallel()
	rows := make([]string, 1000)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":"%d","name":"n"}`, i)
	}
	for name, page := range map[string][]string{"the same page again": rows, "more than was asked for": append(rows, rows[0])} {
		calls := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			calls++
			_, _ = io.WriteString(w, "["+strings.Join(page, ",")+"]")
		}))
		var err error
		for _, err = range newClient(t, server.URL).Items(t.Context(), "d") {
			if calls > 3 {
				break
			}
		}
		server.Close()
		if err == nil || !strings.Contains(err.Error(), "page by page") {
			t.Errorf("%s: %v after %d requests", name, err, calls)
		}
	}
}

// TestNoHTTP: what is no answer of HTTP is not quoted.
func TestNoHTTP(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"secret", "HTTP/1.1 200 OK\r\nsecret\r\n\r\n"} {
		_, err := newClient(t, httpurltest.Raw(t, answer)).Datasets(t.Context())
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "is not HTTP") {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

// TestDatasetName: no two sets of whatever tenants share a dataset, and Cognee takes every name.
func TestDatasetName(t *testing.T) {
	t.Parallel()
	names := map[string]string{}
	for _, of := range [][2]string{
		{"a", "b"},
		{"a", "B"},
		{"a-b", "c"},
		{"a", "b-c"},
		{"a", "b_c"},
		{"a", "b c"},
		{"a", "b.c"},
		{"a", "b~20c"},
		{"a", "Ä"},
		{"a", "A"},
		{"a", ""},
		{"a", "_"},
		{"a", "b/../c"},
	} {
		name := cognee.DatasetName(of[0], of[1])
		if other, taken := names[name]; taken {
			t.Errorf("%v and %s are both %s", of, other, name)
		}
		names[name] = strings.Join(of[:], " ")
		if strings.ContainsAny(name, " ./") || !strings.HasPrefix(name, of[0]+"_") {
			t.Errorf("%v is %q", of, name)
		}
	}
}
