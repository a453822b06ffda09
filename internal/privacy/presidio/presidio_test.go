package presidio_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/privacy"
	"github.com/seed-7227ef26/async-worker/internal/privacy/presidio"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// analyzer is a fake that finds the name Ada Lovelace and reports offsets in code points, as Presidio does.
func analyzer(
	t *testing.T, answer func(w http.ResponseWriter, texts []string, language string) bool,
) *presidio.Detector {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Text     []string `json:"text"`
			Language string   `json:"language"`
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || r.URL.Path != "/analyze" ||
			r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		if answer != nil && answer(w, q.Text, q.Language) {
			return
		}
		all := make([][]map[string]any, len(q.Text))
		for i, text := range q.Text {
			all[i] = []map[string]any{}
			if before, _, ok := strings.Cut(text, "Ada Lovelace"); ok {
				start := utf8.RuneCountInString(before)
				all[i] = append(all[i],
					map[string]any{
						"entity_type": "PERSON", "start": start, "end": start + 12, "score": 0.85,
						"analysis_explanation": nil,
					},
					map[string]any{"entity_type": "US_DRIVER_LICENSE", "start": 0, "end": 1, "score": 0.01})
			}
			if before, _, ok := strings.Cut(text, "17 sonst"); ok {
				start := utf8.RuneCountInString(before)
				all[i] = append(all[i],
					map[string]any{"entity_type": "PHONE_NUMBER", "start": start, "end": start + 2, "score": 0.4},
					map[string]any{"entity_type": "US_SSN", "start": start, "end": start + 2, "score": 0.4})
			}
		}
		if err := json.NewEncoder(w).Encode(all); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	d, err := presidio.New(presidio.Config{
		URL: server.URL + "/", Languages: []string{"en", "de"}, HTTPClient: server.Client(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFind(t *testing.T) {
	t.Parallel()
	var languages []string
	d := analyzer(t, func(_ http.ResponseWriter, _ []string, language string) bool {
		languages = append(languages, language)
		return false
	})
	texts := []string{"Nobody", "", "Für 漢字 🙂 Ada Lovelace, 17 sonst", "  "}
	found, err := d.Find(t.Context(), texts, "de-AT")
	if err != nil || len(found) != 4 || len(found[0])+len(found[1])+len(found[3]) > 0 || len(found[2]) != 2 {
		t.Fatalf("found %+v, %v", found, err)
	}
	if f := found[2][0]; f.Kind != "PERSON" || texts[2][f.Start:f.End] != "Ada Lovelace" || f.Score != 0.85 {
		t.Errorf("%+v is %q", f, texts[2][f.Start:f.End])
	}
	if f := found[2][1]; f.Kind != privacy.Phone { // it has a lower score without a word beside it
		t.Errorf("%+v", f)
	}
	if _, err := d.Find(t.Context(), []string{"x"}, "fr"); err != nil || strings.Join(languages, " ") != "de en" {
		t.Errorf("languages %v, %v", languages, err)
	}
	if found, err := d.Find(t.Context(), nil, "en"); err != nil || len(found) != 0 || len(languages) != 2 {
		t.Errorf("nothing to ask: %v, %v", found, err)
	}
}

// A long text is sent in overlapping pieces; many texts are sent in several requests.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	var requests, longest atomic.Int64
	d := analyzer(t, func(_ http.ResponseWriter, texts []string, _ string) bool {
		requests.Add(1)
		for _, text := range texts {
			longest.Store(max(longest.Load(), int64(utf8.RuneCountInString(text))))
		}
		return len(texts) > 500
	})
	// across the end of the first piece
	text := strings.Repeat("ü", 19_995) + "Ada Lovelace" + strings.Repeat("ö", 30_000)
	texts := append(strings.Split(strings.Repeat("x,", 1200), ","), text)
	found, err := d.Find(t.Context(), texts, "en")
	if err != nil {
		t.Fatal(err)
	}
	last := found[len(found)-1]
	if len(last) != 1 || text[last[0].Start:last[0].End] != "Ada Lovelace" {
		t.Errorf("found %+v", last)
	}
	if requests.Load() != 4 || longest.Load() != 20_000 {
		t.Errorf("%d requests, the longest text has %d characters", requests.Load(), longest.Load())
	}
}

// Every failure is retryable, names the dependency, and never quotes the text or the response.
func TestFailures(t *testing.T) {
	t.Parallel()
	say := func(status int, body string) func(http.ResponseWriter, []string, string) bool {
		return func(w http.ResponseWriter, _ []string, _ string) bool {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // fails only if the client is gone
			return true
		}
	}
	for what, answer := range map[string]func(http.ResponseWriter, []string, string) bool{
		"unknown language": say(500, `{"error":"No matching recognizers for SECRET"}`),
		"old version":      say(200, `[]`),
		"no JSON":          say(200, `<html>SECRET`),
		"wrong address":    say(404, "SECRET"),
		"redirect":         say(302, ""),
		"out of range":     say(200, `[[{"entity_type":"PERSON","start":3,"end":99,"score":1}]]`),
		"upside down":      say(200, `[[{"entity_type":"PERSON","start":3,"end":3,"score":1}]]`),
		"odd kind":         say(200, `[[{"entity_type":"SECRET text","start":0,"end":3,"score":1}]]`),
		"broken off":       func(http.ResponseWriter, []string, string) bool { panic(http.ErrAbortHandler) },
	} {
		found, err := analyzer(t, answer).Find(t.Context(), []string{"SECRET"}, "en")
		e, ok := errors.AsType[*taskerr.Error](err)
		if !ok || !taskerr.Classes[e.Class].Retryable || e.Dependency != taskerr.Privacy || found != nil {
			t.Errorf("%s: %v, %v", what, found, err)
			continue
		}
		if strings.Contains(err.Error()+e.Hint, "SECRET") {
			t.Errorf("%s: the error holds the text: %v", what, err)
		}
	}
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := analyzer(t, nil).Find(ctx, []string{"x"}, "en"); !errors.Is(err, reason) {
		t.Errorf("canceled: %v", err)
	}
}

// silent is a service that never responds.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, err := presidio.New(presidio.Config{
			URL: "http://detector", Timeout: 7 * time.Second, HTTPClient: &http.Client{Transport: silent{}},
		})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, err = d.Find(t.Context(), []string{"x"}, "en")
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.NetworkTimeout ||
			e.Dependency != taskerr.Privacy || time.Since(start) != 7*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "localhost:5002", "ftp://x", "http://", "::"} {
		if _, err := presidio.New(presidio.Config{URL: bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	d, err := presidio.New(presidio.Config{URL: "http://localhost:5002"})
	if err != nil || d.Version() != "presidio@2/en/0.5" {
		t.Errorf("%v, %v", d, err)
	}
	var _ privacy.Detector = d
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
