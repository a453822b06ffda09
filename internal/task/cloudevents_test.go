package task_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cloudevents/sdk-go/v2/event"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// envelope returns the reference SDK's envelope of data.
func envelope(t *testing.T, contentType string, data any) string {
	t.Helper()
	e := event.New()
	e.SetID("e-1")
	e.SetSource("https://frontend.example.org/jobs")
	e.SetType("org.example.job.created")
	e.SetSubject("job")
	e.SetExtension("traceparent", trace)
	e.SetExtension("sequence", 3)
	if err := e.SetData(contentType, data); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDecodeCloudEvents(t *testing.T) {
	t.Parallel()
	data := map[string]any{
		"job_id": "j-1", "tenant_id": "southhaven", "content_id": "scan.png",
		"payload": map[string]any{"languages": []string{"deu"}, "exact": json.Number("12345678901234567890")},
		"hints":   map[string]any{"resolution": "1024"}, "colour": 1,
	}
	text, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	want := task.Task{
		ID: "j-1", Type: task.OCR, ClientID: "southhaven", Priority: task.PriorityNormal,
		Payload: json.RawMessage(`{"exact":12345678901234567890,"filename":"scan.png","languages":["deu"]}`),
		Hints:   task.Hints{Resolution: 1024}, TraceParent: trace, Ignored: []string{"data.colour"},
	}
	quoted, err := json.Marshal(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, event := range map[string]string{
		"data":             envelope(t, "application/json", data),
		"data_base64":      envelope(t, "application/octet-stream", text),
		"JSON in a string": envelope(t, "text/plain", string(text)),
		"quoted by hand": `{"specversion":"1.0","id":"1","source":"/","type":"t","traceparent":"` + trace +
			`","data":` + string(quoted) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decode(t, event)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s\ngot  %+v\nwant %+v", event, got, want)
			}
		})
	}
}

func TestDecodeCloudEventsFields(t *testing.T) {
	t.Parallel()
	in := func(data string) string {
		return `{"specversion":"1.0","id":"1","source":"/","type":"t","data":` + data + `}`
	}
	for data, want := range map[string]string{ // the payload
		`{"job_id":"j","content_id":"a.png"}`:                                  `{"filename":"a.png"}`,
		`{"job_id":"j","content_id":"a.png","payload":{"filename":null}}`:      `{"filename":"a.png"}`,
		`{"job_id":"j","content_id":"a.png","payload":{"filename":"b","c":1}}`: `{"filename":"b","c":1}`,
		`{"task_id":"j","payload":{"filename":"b"}}`:                           `{"filename":"b"}`,
		`{"task_id":"j","job_id":"j","task_type":"","payload":{}}`:             `{}`,
	} {
		if got := decode(t, in(data)); string(got.Payload) != want || got.ID != "j" || got.Type != task.OCR {
			t.Errorf("%s: got %+v, want the payload %s", data, got, want)
		}
	}
	if got := decode(t, in(`{"job_id":"j","task_type":"ingest","payload":{},"traceparent":"`+trace+
		`"}`)); got.TraceParent != trace || got.Type != task.Ingest {
		t.Errorf("got %+v", got)
	}
	for text, want := range map[string]string{
		in(`{"payload":{}}`):                              "data.job_id is missing",
		in(`{"job_id":"j","tenant_id":"x","payload":{}}`): `data.tenant_id is "x", but`,
		in(`{"job_id":"j","task_id":"k","payload":{}}`):   "data.job_id and data.task_id differ",
		in(`{"job_id":"j","task_type":3,"payload":{}}`):   "data.task_type is a number",
		in(`{"job_id":"j"}`):                              "data.payload is missing",
		in(`{"job_id":"j","payload":{"a":"\u0000"}}`):     "data.payload.a has the character U+0000",
		in(`[1]`):                         "data is an array, not an object",
		in(`"hello, world"`):              "data is neither a JSON object",
		in(`null`):                        "data is missing",
		`{"specversion":"0.3","data":{}}`: `specversion is "0.3"`,
		`{"specversion":"1.0","source":"/","data":{}}`:       "id is missing or empty",
		`{"specversion":"1.0","id":"1","data":{}}`:           "source is missing or empty",
		`{"specversion":"1.0","id":"","data":{}}`:            "id is missing or empty",
		`{"specversion":"1.0","id":1,"data":{}}`:             "id is a number",
		in(`{}`)[:len(in(`{}`))-1] + `,"data_base64":"e30"}`: "data_base64 is given in addition to data",
	} {
		if _, err := task.Decode(text, ours); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// A malformed trace context, on the envelope or in the data, is ignored, and named for the log.
func TestMalformedTraceOfEvent(t *testing.T) {
	t.Parallel()
	for _, trace := range []string{`"00-xyz"`, `5`, `{}`, `"a\tb"`, `"` + strings.Repeat("x", 2000) + `"`} {
		const event, data = `{"specversion":"1.0","id":"1","source":"/","type":"t",`, `"data":{"job_id":"j","payload":{}`
		for text, name := range map[string]string{
			event + `"traceparent":` + trace + `,` + data + `}}`: "traceparent",
			event + data + `,"traceparent":` + trace + `}}`:      "data.traceparent",
		} {
			d, err := task.Decode(text, ours)
			if err != nil || d.Task.ID != "j" || d.Task.TraceParent != "" || !slices.Equal(d.Task.Ignored, []string{name}) {
				t.Errorf("%.120s: %+v, %v", text, d.Task, err)
			}
		}
	}
}

// An invalid envelope still shows whom to notify.
func TestKnownOfInvalidEvent(t *testing.T) {
	t.Parallel()
	_, err := task.Decode(`{"specversion":"1.0","id":"1","type":"t",
		"data":{"job_id":"j","payload":{"a":1},"webhook_url":"https://example.org/"}}`, ours)
	invalid, ok := errors.AsType[*task.Invalid](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	k := invalid.Known
	if k.TaskID != "j" || k.WebhookURL != "https://example.org/" || string(k.Payload) != `{"a":1}` ||
		k.Type != task.OCR {
		t.Errorf("got %+v", k)
	}
}

func TestDecodeClaimCheckInEvent(t *testing.T) {
	t.Parallel()
	d, err := task.Decode(envelope(t, "application/json", json.RawMessage(`{"claim_check":{"blob":"t/1.json"}}`)), ours)
	if err != nil || d.ClaimCheck != "t/1.json" {
		t.Errorf("got %+v, %v", d, err)
	}
}

// In an event's data owner_id is the requester; in a native message it is an unknown field.
func TestEventOwner(t *testing.T) {
	t.Parallel()
	event := func(data string) string {
		return `{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"job_id":"t-1","payload":{},` + data +
			`}}`
	}
	if got := decode(t, event(`"owner_id":"user-17"`)); got.RequestedBy != "user-17" || len(got.Ignored) > 0 {
		t.Errorf("requested by %q, ignored %v", got.RequestedBy, got.Ignored)
	}
	if got := decode(t, `{"task_id":"t","task_type":"ocr","payload":{},"owner_id":"user-17"}`); got.RequestedBy != "" ||
		len(got.Ignored) != 1 {
		t.Errorf("requested by %q, ignored %v", got.RequestedBy, got.Ignored)
	}
	if _, err := task.Decode(event(`"owner_id":"a","requested_by":"b"`), ours); err == nil {
		t.Error("two owners were accepted")
	}
}
