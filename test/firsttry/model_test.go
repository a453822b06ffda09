package firsttry

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// TestOtherServer: behind the model's address another server answers, with a page.
func TestOtherServer(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "<html>It works!</html>")
	}))
	defer page.Close()
	addr := strings.TrimPrefix(page.URL, "http://")
	settings := []string{"LLM_PROVIDER=openai", "OPENAI_API_KEY=sk-TopSecret", "OPENAI_BASE_URL=" + page.URL}
	what := []string{
		"the embedding service answered (HTTP 200) with something other than embeddings",
		"the service at " + addr + " answers, but not with this API", "OPENAI_BASE_URL", "!TopSecret", "!It works",
	}
	d.run("async-worker search 'spring tide'", settings...).expect(69, what...)
	d.file("tides.md", "# Tides\n\nTwice a month the water is highest.\n")
	d.run("async-worker enqueue --id tides --upload tides.md --type ingest --document-set sea").expect(0)
	worker := d.begin("async-worker run", settings...)
	worker.await("the service at " + addr)
	worker.interrupt().expect(0, what...)
}

// duration is a time with its unit.
var duration = regexp.MustCompile(`^([0-9.]+(h|m|s|ms|µs))+$`)

// TestJSONLog: a failed task has one warning in the worker's log, and a number that is a time has its unit.
func TestJSONLog(t *testing.T) {
	t.Parallel()
	d := sitDown(t)
	d.file("broken.pdf", "%PDF-1.7\nthis is none")
	stop := d.daemon("LOG_FORMAT=json", "LOG_LEVEL=debug")
	d.run("async-worker enqueue --id broken --upload broken.pdf --type ingest --document-set sea --watch").expect(1, "failed")
	d.until("async-worker dlq list", "broken")
	d.run("async-worker jobs get broken").expect(0, `payload {"filename": "broken.pdf"`, `"document_set": "sea"`, `!\"`)
	warnings, times := "", 0
	for line := range strings.Lines(stop()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if level := record["level"]; (level == "WARN" || level == "ERROR") && strings.Contains(line, "broken") {
			warnings += line
		}
		for key, value := range record {
			text, _ := value.(string)
			number, _ := value.(float64)
			if duration.MatchString(text) || strings.HasSuffix(key, "_ms") {
				times++
			} else if number >= 1e6 && !strings.HasSuffix(key, "bytes") { // nanoseconds
				t.Errorf("%s has no unit: %s", key, line)
			}
		}
	}
	if strings.Count(warnings, "\n") != 1 || !strings.Contains(warnings, "task failed") {
		t.Errorf("the warnings about one failed task:\n%s", warnings)
	}
	if times == 0 {
		t.Error("the log has no times: the search is broken")
	}
}
