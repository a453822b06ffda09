package rerank_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/rerank"
	"github.com/seed-7227ef26/async-worker/internal/rerank/reranktest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

var texts = []string{"a pilot", "the crane lifts a pilot", "nothing"}

func open(t *testing.T, c rerank.Config) *rerank.Client {
	t.Helper()
	c.Timeout = cmp.Or(c.Timeout, time.Minute)
	client, err := rerank.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestProtocols: the ratings are in the order of the texts, whatever the service's is.
func TestProtocols(t *testing.T) {
	t.Parallel()
	for path, model := range map[string]string{
		reranktest.Cohere: reranktest.Model, reranktest.Voyage: reranktest.Model, reranktest.TEI: "",
	} {
		c := open(t, rerank.Config{URL: reranktest.New(t).URL + path, Model: model, APIKey: reranktest.Key})
		rates, err := c.Rate(t.Context(), "crane pilot", texts)
		if err != nil || !slices.Equal(rates, []float64{0.5, 1, 0}) {
			t.Errorf("%s: %v, %v", path, rates, err)
		}
		if err := c.Probe(t.Context()); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestMany: more texts than text-embeddings-inference takes in a request are rated in parts.
func TestMany(t *testing.T) {
	t.Parallel()
	many := slices.Repeat([]string{"nothing", "the crane lifts a pilot", "a pilot"}, 14)
	want := slices.Repeat([]float64{0, 1, 0.5}, 14)
	for path, model := range map[string]string{reranktest.Cohere: reranktest.Model, reranktest.TEI: ""} {
		c := open(t, rerank.Config{URL: reranktest.New(t).URL + path, Model: model, APIKey: reranktest.Key})
		if rates, err := c.Rate(t.Context(), "crane pilot", many); err != nil || !slices.Equal(rates, want) {
			t.Errorf("%s: %v, %v", path, rates, err)
		}
	}
}

// TestScales: ratings that are not from 0 to 1 become so, and keep their order; those that are stay as they are.
func TestScales(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string][]float64{
		`[{"index":0,"score":-4},{"index":1,"score":3},{"index":2,"score":0}]`:           {0.018, 0.953, 0.5},
		`[{"index":0,"score":-9},{"index":1,"score":-2},{"index":2,"score":-4}]`:         {0, 0.119, 0.018},
		`[{"index":0,"score":1e300},{"index":1,"score":-1e300},{"index":2,"score":0.5}]`: {1, 0, 0.622},
		`[{"index":0,"score":0},{"index":1,"score":1.0001},{"index":2,"score":0.007}]`:   {0, 1, 0.007},
	} {
		s := reranktest.New(t)
		s.Fail(says(answer))
		rates, err := open(t, rerank.Config{URL: s.URL + reranktest.TEI, APIKey: reranktest.Key}).Rate(t.Context(), "crane", texts)
		if err != nil || !slices.EqualFunc(rates, want, func(a, b float64) bool { return a >= 0 && a <= 1 && math.Abs(a-b) < 1e-3 }) {
			t.Errorf("%s: %v, %v, want %v", answer, rates, err, want)
		}
	}
}

// hint is what an error says to do.
func hint(err error) string {
	if e, ok := errors.AsType[*taskerr.Error](err); ok {
		return e.Hint
	}
	return ""
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

// TestFailures: an error says what to do, and has neither the key nor what the service said.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults []http.HandlerFunc
		want   string // of the hint; empty: there is no error
	}{
		"429 once":       {[]http.HandlerFunc{reranktest.Status(429, "0")}, ""},
		"429":            {[]http.HandlerFunc{reranktest.Status(429, "0"), reranktest.Status(429, "0")}, "limit of requests"},
		"429 for long":   {[]http.HandlerFunc{reranktest.Status(429, "60")}, "limit of requests"},
		"key":            {[]http.HandlerFunc{reranktest.Status(401, "")}, "RERANK_API_KEY"},
		"model":          {[]http.HandlerFunc{reranktest.Status(400, "")}, "RERANK_MODEL"},
		"path":           {[]http.HandlerFunc{reranktest.Status(404, "")}, "RERANK_URL"},
		"a page":         {[]http.HandlerFunc{says("<html>")}, "RERANK_URL"},
		"too few":        {[]http.HandlerFunc{says(`{"results":[{"index":0,"relevance_score":1}]}`)}, "RERANK_URL"},
		"twice":          {[]http.HandlerFunc{says(`[{"index":0,"score":1},{"index":0,"score":1},{"index":1,"score":1}]`)}, "RERANK_URL"},
		"beyond the end": {[]http.HandlerFunc{says(`[{"index":0,"score":1},{"index":3,"score":1},{"index":1,"score":1}]`)}, "RERANK_URL"},
		"no index":       {[]http.HandlerFunc{says(`[{"score":1},{"index":2,"score":1},{"index":1,"score":1}]`)}, "RERANK_URL"},
	} {
		s := reranktest.New(t)
		s.Fail(c.faults...)
		_, err := open(t, rerank.Config{URL: s.URL + reranktest.Cohere, Model: reranktest.Model, APIKey: reranktest.Key}).
			Rate(t.Context(), "crane pilot", texts)
		e := hint(err)
		switch {
		case c.want == "" && err == nil:
		case c.want == "" || err == nil || !strings.Contains(e, c.want):
			t.Errorf("%s: %v", name, err)
		case strings.Contains(err.Error(), reranktest.Key) || strings.Contains(err.Error(), "<html>"):
			t.Errorf("%s: the error says too much: %v", name, err)
		}
	}
}

// TestRests: a service that failed is not asked again at once, but later; the end of one search is no failure.
func TestRests(t *testing.T) {
	t.Parallel()
	s := reranktest.New(t)
	config := rerank.Config{URL: s.URL + reranktest.TEI, APIKey: reranktest.Key, Rest: time.Hour}
	c := open(t, config)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Rate(ended, "crane", texts); err == nil {
		t.Error("an ended search is rated")
	}
	if _, err := c.Rate(t.Context(), "crane", texts); err != nil {
		t.Errorf("after the end of another search: %v", err)
	}
	s.Fail(reranktest.Status(500, ""))
	if _, err := c.Rate(t.Context(), "crane", texts); err == nil {
		t.Error("HTTP 500 is no error")
	}
	before := s.Requests()
	if _, err := c.Rate(t.Context(), "crane", texts); err == nil || s.Requests() != before {
		t.Errorf("while it rests: %v after %d more requests", err, s.Requests()-before)
	}
	for status, rests := range map[int]bool{
		400: false, 413: false, 422: false, 401: true, 403: true, 404: true, 429: true, 502: true,
	} {
		c := open(t, config)
		s.Fail(reranktest.Status(status, ""))
		if status == 429 || status == 502 {
			s.Fail(reranktest.Status(status, "")) // they are tried twice
		}
		if _, err := c.Rate(t.Context(), "crane", texts); err == nil {
			t.Errorf("HTTP %d is no error", status)
		}
		if _, err := c.Rate(t.Context(), "crane", texts); (err != nil) != rests {
			t.Errorf("after HTTP %d: %v", status, err)
		}
	}
	config.Rest = time.Nanosecond
	c = open(t, config)
	s.Fail(reranktest.Status(500, ""))
	if _, err := c.Rate(t.Context(), "crane", texts); err == nil {
		t.Error("HTTP 500 is no error")
	}
	if _, err := c.Rate(t.Context(), "crane", texts); err != nil {
		t.Errorf("after its rest: %v", err)
	}
}

// TestDeadline: a service that does not answer costs the timeout.
func TestDeadline(t *testing.T) {
	t.Parallel()
	s := reranktest.New(t)
	s.Fail(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is the client's end seen
		<-r.Context().Done()
	})
	c := open(t, rerank.Config{URL: s.URL + reranktest.TEI, APIKey: reranktest.Key, Timeout: 50 * time.Millisecond})
	_, err := c.Rate(t.Context(), "crane", texts)
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.NetworkTimeout {
		t.Errorf("%v", err)
	}
}

// TestCauses: no cause of an error has the address, in which an operator may have put a key.
func TestCauses(t *testing.T) {
	t.Parallel()
	s := reranktest.New(t)
	s.Fail(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	for name, address := range map[string]string{
		"silent": s.URL + reranktest.TEI + "?key=s3cret", "nobody": "http://127.0.0.1:1/rerank?key=s3cret",
	} {
		_, err := open(t, rerank.Config{URL: address, Timeout: 50 * time.Millisecond}).Rate(t.Context(), "crane", texts)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		for ; err != nil; err = errors.Unwrap(err) {
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
