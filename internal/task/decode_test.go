package task_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

const (
	trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	whole = `{"task_id":"t-1","task_type":"ingest","payload":{"filename":"a.pdf","n":1.50},
		"webhook_url":"https://example.org/hook?token=secret","priority":"high",
		"hints":{"force":true,"timeout_seconds":60,"resolution":1024,"output_format":"markdown"},
		"client_id":"southhaven","requested_by":"user-17","traceparent":"` + trace + `"}`
)

var ours = task.Options{ClientID: "southhaven"}

func wholeTask() task.Task {
	return task.Task{
		ID: "t-1", Type: task.Ingest, Payload: json.RawMessage(`{"filename":"a.pdf","n":1.50}`),
		WebhookURL: "https://example.org/hook?token=secret", Priority: task.PriorityHigh,
		Hints: task.Hints{
			Force: true, Timeout: time.Minute, TimeoutSec: 60, Resolution: 1024, OutputFormat: "markdown",
		},
		ClientID: "southhaven", RequestedBy: "user-17", TraceParent: trace,
	}
}

func decode(t *testing.T, text string) task.Task {
	t.Helper()
	d, err := task.Decode(text, ours)
	if err != nil {
		t.Fatalf("Decode: %v", err)
	}
	return d.Task
}

func TestDecodeWrappings(t *testing.T) {
	t.Parallel()
	std := base64.StdEncoding.EncodeToString([]byte(whole))
	quoted, _ := json.Marshal(whole)
	for name, text := range map[string]string{
		"raw":                    whole,
		"white space around":     "\r\n\t " + whole + " \n",
		"byte order mark":        "\uFEFF" + whole,
		"base64":                 std,
		"base64 without padding": base64.RawStdEncoding.EncodeToString([]byte(whole + "  ")),
		"base64 URL alphabet":    base64.URLEncoding.EncodeToString([]byte(whole)),
		"base64 URL, no padding": base64.RawURLEncoding.EncodeToString([]byte(whole + " ")),
		"base64 in lines":        std[:76] + "\r\n" + std[76:152] + "\n" + std[152:] + "\n",
		"base64 twice":           base64.StdEncoding.EncodeToString([]byte(std)),
		"JSON in a string":       string(quoted),
		"base64 of a string":     base64.StdEncoding.EncodeToString(quoted),
		"base64 of a BOM":        base64.StdEncoding.EncodeToString([]byte("\uFEFF" + whole)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := decode(t, text); !reflect.DeepEqual(got, wholeTask()) {
				t.Errorf("got  %+v\nwant %+v", got, wholeTask())
			}
		})
	}
}

// The URL alphabet differs in two characters only; here both occur.
func TestDecodeURLAlphabet(t *testing.T) {
	t.Parallel()
	text := `{"task_id":"t","task_type":"ocr","payload":{"a":"¿¿¿>>>~~~ÿÿÿ"}}`
	encoded := base64.URLEncoding.EncodeToString([]byte(text))
	if !strings.ContainsAny(encoded, "-_") {
		t.Fatal("the sample has none of the two characters")
	}
	if got := decode(t, encoded); got.ID != "t" {
		t.Errorf("got %+v", got)
	}
}

func TestDecodeDefaultsAndUnknown(t *testing.T) {
	t.Parallel()
	got := decode(t, `{"task_id":"t","task_type":"brew","payload":{},"colour":1,"Task_ID":"x","webhook_url":null,
		"hints":{"force":"false","zeal":3},"priority":"","client_id":null,"traceparent":"00-xyz"}`)
	want := task.Task{
		ID: "t", Type: "brew", Payload: json.RawMessage(`{}`), Priority: task.PriorityNormal,
		Ignored: []string{"Task_ID", "colour", "hints.zeal", "traceparent"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := decode(t, `{"task_id":"t","task_type":"ocr","payload":{},"task_id":"u"}`); got.ID != "u" {
		t.Errorf("of a field given twice the last counts, got %q", got.ID)
	}
}

func TestDecodeHints(t *testing.T) {
	t.Parallel()
	for hints, want := range map[string]task.Hints{
		`{"force":"true","resolution":"1024","timeout_seconds":"1.5","output_format":"html"}`: {
			Force: true, Resolution: 1024, TimeoutSec: 1.5, Timeout: 1500 * time.Millisecond, OutputFormat: "html",
		},
		`{"force":1,"resolution":1e3,"timeout_seconds":86400}`: {
			Force: true, Resolution: 1000, TimeoutSec: 86400, Timeout: 24 * time.Hour,
		},
		`{"force":"False","resolution":null}`: {},
		`{"force":" TRUE "}`:                  {Force: true},
		`{"resolution":1.5}`:                  {Resolution: 2},
		`{"resolution":0.2}`:                  {Resolution: 1},
		`{"resolution":"9e9"}`:                {Resolution: task.MaxResolution},
		`{"priority":"low"}`:                  {Priority: task.PriorityLow},
		`null`:                                {},
	} {
		got := decode(t, `{"task_id":"t","task_type":"ocr","payload":{},"hints":`+hints+`}`)
		if got.Hints != want {
			t.Errorf("%s: got %+v, want %+v", hints, got.Hints, want)
		}
	}
}

// An invalid resolution is treated as an unknown hint: the engine's own is used.
func TestDecodeOddResolution(t *testing.T) {
	t.Parallel()
	for _, odd := range []string{`0`, `-3`, `"high"`, `[300]`, `{}`, `true`, `"1e999"`, `"NaN"`, `""`} {
		got := decode(t, `{"task_id":"t","task_type":"ocr","payload":{},"hints":{"resolution":`+odd+`}}`)
		if got.Hints != (task.Hints{}) || !slices.Equal(got.Ignored, []string{"hints.resolution"}) {
			t.Errorf("%s: got %+v, ignored %v", odd, got.Hints, got.Ignored)
		}
	}
}

// The hint takes precedence over the message's priority; without either there is none.
func TestDecodePriority(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string][2]task.Priority{
		`"priority":"low"`:                               {"low", "low"},
		`"hints":{"priority":"high"}`:                    {"high", "high"},
		`"priority":"low","hints":{"priority":"high"}`:   {"high", "high"},
		`"priority":"high","hints":{"priority":null}`:    {"high", "high"},
		`"hints":{"force":true}`:                         {"", "normal"},
		`"priority":"normal","hints":{"priority":"low"}`: {"low", "low"},
	} {
		d, err := task.Decode(`{"task_id":"t","task_type":"ocr","payload":{},`+fields+`}`, ours)
		if err != nil || d.Priority != want[0] || d.Task.Priority != want[1] {
			t.Errorf("%s: got %q, %q, %v", fields, d.Priority, d.Task.Priority, err)
		}
	}
}

// A moved message is the same task, however it is wrapped, and names its origin.
func TestMoved(t *testing.T) {
	t.Parallel()
	from := task.Origin{Queue: "southhaven-tasks", MessageID: "5d2f", InsertedAt: time.UnixMilli(1700000000123)}
	quoted, _ := json.Marshal(whole)
	for name, text := range map[string]string{
		"raw": whole, "base64": base64.StdEncoding.EncodeToString([]byte(whole)), "JSON in a string": string(quoted),
		"event": `{"specversion":"1.0","id":"1","source":"s","type":"t","traceparent":"` + trace +
			`","data":{"job_id":"t-1","payload":{"a":"<&>"},"colour":1}}`,
		"claim check": `{"claim_check":{"blob":"tasks/4b1c.json"},"task_id":"t-9","priority":"high"}`,
		"markup":      `{"task_id":"t-1","task_type":"ocr","payload":{"a":"` + strings.Repeat("<&>", 200) + `"}}`,
	} {
		before, err := task.Decode(text, ours)
		if err != nil {
			t.Fatal(name, err)
		}
		moved, err := task.Moved(text, from)
		if err != nil {
			t.Fatal(name, err)
		}
		after, err := task.Decode(moved, ours)
		if err != nil || after.Origin != from || before.Origin != (task.Origin{}) {
			t.Errorf("%s: from %+v, %v", name, after.Origin, err)
		}
		if task.Fingerprint(before.Task) != task.Fingerprint(after.Task) {
			t.Errorf("%s: another task", name)
		}
		if grown := len(moved) - len(text); grown > 200 {
			t.Errorf("%s: %d bytes more than before", name, grown)
		}
		after.Origin, after.Task.Payload, after.Known.Payload = task.Origin{}, before.Task.Payload, before.Known.Payload
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s: was %+v\nis  %+v", name, before, after)
		}
	}
	for _, odd := range []string{
		`"a"`, `"a/b"`, `"a/b/c"`, `7`, `"/b/1"`, `"a/b/0"`, `"a/b/-1"`, `"a/b/-99999999999999999"`,
		`"a/b/253402300800000"`, `"a/b/9223372036854775807"`,
	} {
		d, err := task.Decode(`{"task_id":"t","task_type":"ocr","payload":{},"movedfrom":`+odd+`}`, ours)
		if err != nil || d.Origin != (task.Origin{}) || !slices.Equal(d.Task.Ignored, []string{"movedfrom"}) {
			t.Errorf("%s: %+v, %v", odd, d, err)
		}
	}
}

func TestDecodeClaimCheck(t *testing.T) {
	t.Parallel()
	text := `{"claim_check":{"blob":"tasks/4b1c.json"},"task_id":"t-9","webhook_url":"https://example.org/"}`
	d, err := task.Decode(text, ours)
	if err != nil {
		t.Fatal(err)
	}
	if d.ClaimCheck != "tasks/4b1c.json" || d.Known.TaskID != "t-9" || d.Known.WebhookURL != "https://example.org/" {
		t.Errorf("got %+v", d)
	}
	_, err = task.Decode(text, task.Options{ClientID: "southhaven", FromClaimCheck: true})
	if invalid, ok := errors.AsType[*task.Invalid](err); !ok || invalid.Field != "claim_check" {
		t.Errorf("a claim check behind a claim check: got %v", err)
	}
	if _, err := task.Decode(whole, task.Options{ClientID: "southhaven", FromClaimCheck: true}); err != nil {
		t.Errorf("a task behind a claim check: %v", err)
	}
}
