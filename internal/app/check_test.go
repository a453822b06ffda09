package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

func TestCheckTask(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind    task.Type
		payload string
		wrong   string // in the error; empty: there is none
	}{
		{"ingest", `{"filename": "a.pdf", "document_set": "s"}`, ""},
		{"ingest", `{"filename": "../a.pdf"}`, "payload.filename"},
		{"ingest", `{"filename": 7}`, "filename"},
		{"summarize", `{"filename": "a.pdf"}`, ""},
		{"ocr", `{"filename": "a.png"}`, ""},
		{"ocr", `{"filename": "a.png", "pages": "x"}`, "payload.pages"},
		{"agent", `{"prompt": "why?"}`, ""},
		{"ai", `{"prompt": "why?"}`, ""},
		{"ai", `{}`, "payload.prompt"},
		{"translate", `{}`, "agent, ai, convert, export, ingest, ocr, summarize, xml"},
	} {
		err := app.CheckTask(task.Task{ID: "t1", Type: tt.kind, Payload: json.RawMessage(tt.payload)})
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s %s: %v, want %q", tt.kind, tt.payload, err, tt.wrong)
		}
	}
}

// Each type tells the fields of its payload, so that the API refuses one in camelCase.
func TestSpecsTellFields(t *testing.T) {
	t.Parallel()
	specs, err := app.Specs()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range specs {
		known := map[task.Type]string{
			task.Agent: "documentSet", task.AI: "maxSteps", task.Summarize: "maxWords", task.Export: "deckId",
		}[s.Type]
		if known == "" {
			known = "sourceUri"
		}
		if s.CheckNames(json.RawMessage(`{"`+known+`":1}`)) == nil {
			t.Errorf("%s takes %s", s.Type, known)
		}
	}
}
