package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/test/contract/published"
)

// taskOf is a message of a type with a payload.
func taskOf(kind, payload string) string {
	return fmt.Sprintf(`{"task_id": "1", "task_type": %q, "payload": %s}`, kind, payload)
}

// nested is a JSON value in so many arrays.
func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// TestBeyondTheSchema: what the worker refuses although it conforms is what the schema says that it can't say.
func TestBeyondTheSchema(t *testing.T) {
	t.Parallel()
	schema := published.Message(t)
	var about struct {
		Description string `json:"description"`
	}
	text, err := os.ReadFile("../../docs/schemas/message.schema.json")
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("é", 200)
	for text, named := range map[string]string{
		taskOf("ocr", `{"filename": "../a.pdf"}`):                                                                                  "names and prefixes that no blob can have",
		taskOf("ocr", `{"source_uri": "blob:a/../b.pdf"}`):                                                                         "names and prefixes that no blob can have",
		taskOf("ingest", `{"prefix": "../", "document_set": "s"}`):                                                                 "names and prefixes that no blob can have",
		taskOf("ocr", `{"filename": "a.pdf", "pages": "3-1"}`):                                                                     "pages that run backwards",
		taskOf("ocr", `{"filename": "`+strings.Repeat("日", 1000)+`"}`):                                                             "lengths in bytes",
		taskOf("agent", `{"prompt": "why?"}`)[:1] + `"requested_by": "` + long + `", ` + taskOf("agent", `{"prompt": "why?"}`)[1:]: "lengths in bytes",
		taskOf("ocr", `{"source_uri": "https://[12]/a.pdf"}`):                                                                      "hosts in brackets that are not an IPv6 address",
		taskOf("summarize", `{"filename": "a.pdf", "language": "qqqqqqqq"}`):                                                       "languages that do not exist",
		taskOf("agent", `{"prompt": "why?", "response_schema": {"$ref": "https://example.com/s.json"}}`):                           "a response_schema that refers to others",
		taskOf("agent", `{"prompt": "why?", "response_schema": {"const": `+nested(33)+`}}`):                                        "nested more than 32 levels deep",
		taskOf("agent", `{"prompt": "why?", "response_schema": {"pattern": "(?:`+strings.Repeat("x", 3000)+`){1000}"}}`):           "patterns",
		taskOf("agent", `{"prompt": "why?", "response_schema": {"$schema": "https://example.com/s.json"}}`):                        "own $schema",
		`{"client_id": "northhaven", ` + taskOf("agent", `{"prompt": "why?"}`)[1:]:                                                 "another tenant's client_id",
		taskOf("agent", `{"prompt": "why?\u0000"}`):                                                                                "U+0000",
		taskOf("agent", `{"prompt": "why?", "x": "\ud800"}`):                                                                       "half a surrogate pair",
		taskOf("agent", `{"prompt": "why?", "x": `+nested(63)+`}`):                                                                 "nesting of more than 64 levels",
		taskOf("agent", `{"prompt": "why?", "x": 1e309}`):                                                                          "numbers out of the range of a double",
		taskOf("agent", `{"prompt": "why?", "x": `+strings.Repeat("1", 401)+`}`):                                                   "or of more than 400 characters",
	} {
		if problem := published.Problem(schema, text); problem != "" {
			t.Errorf("%s: the schema reports %s", text, problem)
		}
		if refused(text) == nil {
			t.Errorf("%s: the worker takes it", text)
		}
		if !strings.Contains(about.Description, named) {
			t.Errorf("the schema doesn't say that it can't say %q", named)
		}
	}
}

// odd are values that one of the readers of a message may take and another one refuse.
func odd() []any {
	long := strings.Repeat("x", 2000)
	return []any{
		nil, true, false, 0.0, -1.0, 0.5, 1.0, 5e3, 1e9, "", " ", "s ", "\u00a0s", "a\tb", "a\nb", "s\u2003", "\ufeff", "é", "s\u0085", "\u007f",
		"1", "01", "1-3", "3,1", "1000001", "99999999999999999999", "one", "true", "high", "High", "pptx", "xx", "de", "de-", "embedded", "checked", "hocr",
		"https://example.com", "https://example.com:0/", "https://example.com:65536/", "https://example.com:/a", "https://a_b.example/%zz",
		"https://example.com/?%zz", "https://example.com/#%zz", "https://u@example.com/", "https:///a", "https://exa mple.com/", "HTTPS://example.com/",
		"http://example.com/%zz", "http://example.com:99999/", "https://example.com:80:80/", "https://example.com/a b", "https://é.example/é", "blob:", "blob:a b",
		"2026-12-01T06:00:00Z", "2026-12-01t06:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T06:00:60Z", "2026-02-30T06:00:00Z", "0000-01-01T00:00:00Z",
		"2026-12-01T06:00:00+24:00", "2026-12-01T06:00:00", "6f1b0c7e-2d9b-4a57-9c1e-0a4d1f7a9b10", "{6f1b0c7e-2d9b-4a57-9c1e-0a4d1f7a9b10}",
		"started", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", long,
		[]any{},
		[]any{"started"},
		[]any{1.0},
		map[string]any{},
		map[string]any{"type": "string"},
		map[string]any{"type": 5.0},
		map[string]any{"required": "a"},
		map[string]any{"role": "user", "content": " "},
	}
}

// whole are payloads with all the fields of each type; ai has those of agent.
func whole() map[string]map[string]any {
	source := map[string]any{"filename": "a.pdf", "source_uri": "blob:in/a.pdf"}
	with := func(more map[string]any) map[string]any {
		all := maps.Clone(source)
		maps.Copy(all, more)
		return all
	}
	asked := map[string]any{
		"prompt": "why?", "document_set": "s", "history": []any{map[string]any{"role": "user", "content": "what?"}}, "max_steps": 3.0,
		"response_schema": map[string]any{"type": "object"},
	}
	return map[string]map[string]any{
		"ingest": with(map[string]any{
			"document_set": "s", "metadata": map[string]any{"title": "A"}, "delete": true, "purge": true, "only_missing": true,
		}),
		"ocr":       with(map[string]any{"languages": []any{"deu"}, "pages": "1"}),
		"summarize": with(map[string]any{"style": "brief", "language": "de", "max_words": 100.0}),
		"xml":       with(map[string]any{"mapping": "m", "pretty": true, "mode": "checked"}),
		"convert":   source, "agent": asked,
		"export": {"deck_id": "6f1b0c7e-2d9b-4a57-9c1e-0a4d1f7a9b10", "format": "pdf", "template": "t.pptx"},
	}
}

// excepted are how sentences about exceptions begin.
var excepted = []string{"is refused: ", "payload.prefix can't begin", "BCP 47", "pages that", "this queue belongs to"}

// TestConforming: whatever one or two fields of a message have, the worker takes what conforms, but for the exceptions.
func TestConforming(t *testing.T) {
	t.Parallel()
	schema := published.Message(t)
	envelope := map[string]any{
		"webhook_url": "https://example.com/", "webhook_events": []any{"started"}, "priority": "low", "requested_by": "me", "client_id": "southhaven",
		"traceparent": "x", "run_at": "2026-12-01T06:00:00Z", "hints": map[string]any{
			"force": true, "timeout_seconds": 60.0, "max_wait_seconds": 60.0, "resolution": 1000.0, "output_format": "text", "priority": "high",
		},
	}
	taken, known := 0, map[string]bool{}
	try := func(message map[string]any) {
		text, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		if published.Problem(schema, string(text)) != "" {
			return
		}
		taken++
		err = refused(string(text))
		if err == nil || known[sentenceOf(err)] || slices.ContainsFunc(excepted, func(s string) bool {
			return strings.Contains(sentenceOf(err), s)
		}) {
			return
		}
		known[sentenceOf(err)] = true // once: many messages have it
		t.Errorf("it conforms, and the worker says %v:\n%s", err, text)
	}
	for kind, payload := range whole() {
		message := map[string]any{"task_id": "1", "task_type": kind, "payload": payload}
		maps.Copy(message, envelope)
		changed := func() { try(message) }
		for name, value := range maps.Clone(payload) {
			delete(payload, name)
			vary(payload, changed)
			payload[name] = value
		}
		vary(payload, changed)
		vary(message, changed)
		vary(envelope["hints"].(map[string]any), changed)
	}
	if taken < 500 {
		t.Errorf("only %d messages conform", taken)
	}
}

// vary calls changed after each change of an object: each of its members is missing, or has another value.
func vary(object map[string]any, changed func()) {
	for name, before := range maps.Clone(object) {
		delete(object, name)
		changed()
		for _, value := range odd() {
			object[name] = value
			changed()
		}
		object[name] = before
	}
}
