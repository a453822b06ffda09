package contract_test

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/api"
	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/test/contract/published"
	"github.com/seed-7227ef26/async-worker/test/errorlist"
)

// refused returns why a worker of the tenant southhaven refuses a message; nil: it accepts it.
func refused(text string) error {
	d, err := task.Decode(text, task.Options{ClientID: "southhaven"})
	if err != nil {
		return err
	}
	return app.CheckTask(d.Task)
}

// sentenceOf is an error as a sender reads it: without its class.
func sentenceOf(err error) string {
	if e, ok := errors.AsType[*taskerr.Error](err); ok {
		return e.Message
	}
	return err.Error()
}

// TestMessages: the worker accepts what conforms to the schema, and refuses what doesn't.
func TestMessages(t *testing.T) {
	t.Parallel()
	schema := published.Message(t)
	list := errorlist.Read(t, "../../docs/errors.md")
	for text, taken := range map[string]bool{
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a.pdf", "document_set": "s"}}`: true,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a.pdf", "document_set": "s", "blob": "in/a.pdf", "metadata": {"title": "A"}},
			"webhook_url": "https://example.com:8443/hook?x=1", "priority": "low", "hints": {"force": true, "timeout_seconds": 60.5, "priority": "high"},
			"client_id": "southhaven", "requested_by": "user-17", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "colour": 1}`: true,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a.pdf", "document_set": "s", "delete": true, "purge": true}}`:                 true,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a.pdf"}}`:                                                                     false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"document_set": "s"}}`:                                                                     false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "", "document_set": "s"}}`:                                                     false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a.pdf", "document_set": 5}}`:                                                  false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a.pdf", "document_set": "s", "metadata": []}}`:                                false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a.pdf", "document_set": "s", "delete": "yes"}}`:                               false,
		`{"task_id": "1", "task_type": "summarize", "payload": {"filename": "a.pdf"}}`:                                                                  true,
		`{"task_id": "1", "task_type": "summarize", "payload": {"filename": "a.pdf", "style": "bullets", "language": "pt-BR", "max_words": 10}}`:        true,
		`{"task_id": "1", "task_type": "summarize", "payload": {"filename": "a.pdf", "style": "haiku"}}`:                                                false,
		`{"task_id": "1", "task_type": "summarize", "payload": {"filename": "a.pdf", "max_words": 9}}`:                                                  false,
		`{"task_id": "1", "task_type": "summarize", "payload": {"filename": "a.pdf", "max_words": 5001}}`:                                               false,
		`{"task_id": "1", "task_type": "summarize", "payload": {"filename": "a.pdf", "max_words": 10.5}}`:                                               false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"source_uri": "blob:in/a.pdf", "document_set": "s"}}`:                                      true,
		`{"task_id": "1", "task_type": "ingest", "payload": {"source_uri": "https://example.com/a.pdf?x=1", "document_set": "s", "filename": "a.pdf"}}`: true,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "https://example.com:8443"}}`:                                                   true,
		`{"task_id": "1", "task_type": "summarize", "payload": {"source_uri": "https://example.com/a.pdf"}}`:                                            true,
		`{"task_id": "1", "task_type": "summarize", "payload": {}}`:                                                                                     false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "http://example.com/a.pdf"}}`:                                                   false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "https://me:pw@example.com/a.pdf"}}`:                                            false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "a.pdf"}}`:                                                                      false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "blob:/a.pdf"}}`:                                                                false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "blob:a.pdf", "blob": "a.pdf"}}`:                                                false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": 5}}`:                                                                            false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"prefix": "in/", "document_set": "s", "delete_missing": true}}`:                            true,
		`{"task_id": "1", "task_type": "ingest", "payload": {"prefix": "", "document_set": "s", "metadata": {}}}`:                                       true,
		`{"task_id": "1", "task_type": "ingest", "payload": {"prefix": "in/"}}`:                                                                         false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"prefix": 7, "document_set": "s"}}`:                                                        false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"prefix": "in/", "document_set": "s", "filename": "a"}}`:                                   false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"prefix": "in/", "document_set": "s", "delete": true}}`:                                    false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a", "document_set": "s", "delete_missing": true}}`:                            false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a", "document_set": "s", "only_missing": true}}`:                              false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a", "document_set": "s", "only_missing": true, "delete": true}}`:              true,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?"}}`:                                                                         true,
		`{"task_id": "1", "task_type": "ai", "payload": {"prompt": "why?", "document_set": "s", "max_steps": 50,
			"history": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "response_schema": {"type": "object"}}}`: true,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": ""}}`:                                                                                                                       false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?", "max_steps": 0}}`:                                                                                                   false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?", "max_steps": 51}}`:                                                                                                  false,
		`{"task_id": "1", "task_type": "ai", "payload": {"prompt": "why?", "history": [{"role": "system", "content": "obey"}]}}`:                                                                  false,
		`{"task_id": "1", "task_type": "ai", "payload": {"prompt": "why?", "history": [{"role": "user", "content": ""}]}}`:                                                                        false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"filename": "a.png", "languages": ["deu", "eng"], "pages": "1-3,7"}}`:                                                                   true,
		`{"task_id": "1", "task_type": "ocr", "payload": {"filename": "a.png"}, "hints": {"resolution": 2000, "output_format": "hocr"}}`:                                                          true,
		`{"task_id": "1", "task_type": "ocr", "payload": {"filename": "a.png", "languages": "deu"}}`:                                                                                              false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"filename": "a.png", "pages": "one"}}`:                                                                                                  false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"filename": "a.png"}, "hints": {"output_format": "docx"}}`:                                                                              false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a.pdf", "document_set": " s"}}`:                                                                                         false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"filename": "a.png", "pages": 3}}`:                                                                                                      false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a.pdf", "document_set": "s", "purge": true}}`:                                                                           false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": " \n"}}`:                                                                                                                    false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?", "response_schema": "string"}}`:                                                                                      false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?", "response_schema": [1]}}`:                                                                                           false,
		`{"task_id": "1", "task_type": "summarize", "payload": {"filename": "a.pdf", "language": "de at"}}`:                                                                                       false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?"}, "requested_by": "a\u0007b"}`:                                                                                       false,
		`{"task_id": "1", "task_type": "xml", "payload": {}}`:                                                                                                                                     true,
		`{"task_id": "1", "task_type": "xml", "payload": {"filename": "a.pdf", "mode": "checked"}}`:                                                                                               true,
		`{"task_id": "1", "task_type": "xml", "payload": {"filename": "a.pdf", "mapping": "pt_simon_invoice_v1", "mode": "checked"}}`:                                                             true,
		`{"task_id": "1", "task_type": "xml", "payload": {"filename": "a.pdf", "mapping": "embedded", "mode": "direct"}}`:                                                                         true,
		`{"task_id": "1", "task_type": "xml", "payload": {"filename": "a.pdf", "mapping": "embedded", "mode": "checked"}}`:                                                                        false,
		`{"task_id": "1", "task_type": "translate", "payload": {}}`:                                                                                                                               false,
		`{"task_id": "a b", "task_type": "agent", "payload": {"prompt": "why?"}}`:                                                                                                                 false,
		`{"task_type": "agent", "payload": {"prompt": "why?"}}`:                                                                                                                                   false,
		`{"task_id": "1", "task_type": "agent"}`:                                                                                                                                                  false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?"}, "webhook_url": "http://user@example.com/"}`:                                                                        false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?"}, "webhook_url": "http://example.com"}`:                                                                              true,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?", "document_set": " s "}}`:                                                                                            false,
		`{"task_id": "1", "task_type": "ai", "payload": {"prompt": "why?", "document_set": "a\tb"}}`:                                                                                              false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?", "document_set": "s\u00a0"}}`:                                                                                        false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?", "document_set": "\u2003"}}`:                                                                                         false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?", "document_set": "high water, 2"}}`:                                                                                  true,
		`{"task_id": "1", "task_type": "ai", "payload": {"prompt": "why?", "document_set": ""}}`:                                                                                                  true,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a.pdf", "document_set": "s\u0085"}}`:                                                                                    false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"filename": "a.pdf", "document_set": "a\u2028b"}}`:                                                                                   true,
		`{"task_id": "1", "task_type": "ai", "payload": {"prompt": "\u3000\u00a0"}}`:                                                                                                              false,
		`{"task_id": "1", "task_type": "ai", "payload": {"prompt": "why?", "history": [{"role": "user", "content": "\u2029"}]}}`:                                                                  false,
		`{"task_id": "1", "task_type": "ai", "payload": {"prompt": "why?", "response_schema": {"type": 5}}}`:                                                                                      false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?", "response_schema": {"properties": {"a": {"minLength": -1}}}}}`:                                                      false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?", "response_schema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"enum": [1]}}}}}`: true,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?", "response_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{}]}}}`:                         true,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "https://example.com/100%.pdf"}}`:                                                                                         false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "https://example.com/100%25.pdf?x=100%#%41"}}`:                                                                            true,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "https://example.com/#100%"}}`:                                                                                            false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "https://example.com:99999/a.pdf"}}`:                                                                                      false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "https://example.com:x/a.pdf"}}`:                                                                                          false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "https://exam ple.com/a.pdf"}}`:                                                                                           false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "https://example.com/a\tb"}}`:                                                                                             false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "https://münchen.example:8443/a b/ü.pdf?x=[1]"}}`:                                                                         true,
		`{"task_id": "1", "task_type": "ocr", "payload": {"source_uri": "https://[2001:db8::1]:8443/a.pdf"}}`:                                                                                     true,
		`{"task_id": "1", "task_type": "ocr", "payload": {"filename": "a.png", "pages": "10000000"}}`:                                                                                             false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"filename": "a.png", "pages": "1-99999999"}}`:                                                                                           false,
		`{"task_id": "1", "task_type": "ocr", "payload": {"filename": "a.png", "pages": "1-1000000"}}`:                                                                                            true,
		`{"task_id": "1", "task_type": "ingest", "payload": {"source_uri": "https://example.com/a.pdf", "document_set": "s", "delete": true}}`:                                                    false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"source_uri": "https://example.com/a.pdf", "document_set": "s", "delete": true, "filename": "a"}}`:                                   true,
		`{"task_id": "1", "task_type": "ingest", "payload": {"source_uri": "https://example.com/a.pdf", "document_set": "s", "delete": true, "filename": "a", "only_missing": true}}`:             false,
		`{"task_id": "1", "task_type": "ingest", "payload": {"source_uri": "blob:a.pdf", "document_set": "s", "delete": true, "only_missing": true}}`:                                             true,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?"}, "webhook_events": ["started", "started", "started", "started", "started", "started", "started", "started", "started", "started", "started", "started", "started", "started", "started", "started", "started"]}`:      false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?"}, "webhook_events": ["progress", "progress", "progress", "progress", "progress", "progress", "progress", "progress", "progress", "progress", "progress", "progress", "progress", "progress", "progress", "progress"]}`: true,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?"}, "run_at": "2026-12-01T06:00:00.5+01:00"}`: true,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?"}, "run_at": "2026-12-01t06:00:00z"}`:        false,
		`{"task_id": "1", "task_type": "agent", "payload": {"prompt": "why?"}, "run_at": "2026-12-01T05:59:60Z"}`:        false,
	} {
		err := refused(text)
		if (err == nil) != taken {
			t.Errorf("%s: the worker returns %v", text, err)
		}
		const library = "payload.response_schema is not a JSON Schema: " // what follows is the library's
		if err != nil && !strings.HasPrefix(sentenceOf(err), library) && !list.Has(sentenceOf(err)) {
			t.Errorf("docs/errors.md lacks %q", sentenceOf(err))
		}
		if problem := published.Problem(schema, text); (problem == "") != taken {
			t.Errorf("%s: the schema reports %s", text, problem)
		}
	}
}

// TestEveryType: the schemas have every type of task, and the API takes it.
func TestEveryType(t *testing.T) {
	t.Parallel()
	types, err := app.Types()
	if err != nil || len(types) == 0 {
		t.Fatal(types, err)
	}
	text, err := os.ReadFile("../../docs/schemas/message.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var message struct {
		Properties struct {
			Kind struct {
				Enum []task.Type `json:"enum"`
			} `json:"task_type"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(text, &message); err != nil || !slices.Equal(message.Properties.Kind.Enum, types) {
		t.Errorf("the schema has %v, a worker does %v; add the missing types to shapes.go; %v",
			message.Properties.Kind.Enum, types, err)
	}
	kind, _ := reflect.TypeFor[api.NewJob]().FieldByName("Type")
	for _, name := range types {
		if !slices.Contains(strings.Split(kind.Tag.Get("enum"), ","), string(name)) {
			t.Errorf("POST /v1/jobs refuses %s; add it to NewJob.Type in internal/api/submit.go", name)
		}
	}
}
