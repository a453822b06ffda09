package api

import (
	"encoding/json"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// A job's result names what it made, if there is a call that reads it.
func TestResultRef(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		of           task.Type
		result, want string
	}{
		{task.Ingest, `{"document_id":"1","document_set":"s"}`, "/v1/documents/1"},
		{task.Summarize, `{"summary_id":"2"}`, "/v1/summaries/2"},
		{task.Agent, `{"run_id":"3"}`, "/v1/agent-runs/3"},
		{task.OCR, `{"derived_content_id":"4","derived_blob":"b"}`, "/v1/derived-contents/4"},
		{task.Convert, `{"deck_id":"5","result_path":"decks/5.json"}`, "/v1/decks/5"},
		{task.Export, `{"deck_id":"5","result_path":"exports/6.pptx"}`, ""}, // it made a blob
		{task.Convert, `{"deck_id":7}`, ""},
		{task.XML, `{"result_path":"results/8.xml"}`, ""},
		{task.XML, `[]`, ""},
	} {
		if got := resultRef(c.of, json.RawMessage(c.result)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.of, c.result, got, c.want)
		}
	}
}
