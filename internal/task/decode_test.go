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
	"github.com/seed-7227ef26/async-worker/test/contract/published"
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
		after.Origin, after.Task.Payload, after.Known.Payload = task.Origin{}, before.Task.Payload, before.Known.Payload
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s: was %+v\nis  %+v", name, before, after)
		}
	}
	for _, odd := range []string{`"a"`, `"a/b"`, `"a/b/c"`, `7`, `"/b/1"`} {
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

func TestDecodeInvalid(t *testing.T) {
	t.Parallel()
	with := func(field string) string { // a task in which the field replaces or joins the valid ones
		return `{"task_id":"t-1","task_type":"ingest","payload":{"filename":"a.pdf","document_set":"s"},` + field + `}`
	}
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	schema := published.Message(t)
	// What JSON Schema can't express.
	unsaid := []string{
		"too deep", "NUL in payload", "NUL in key", "number out of range", "number too small", "number too long",
		"other client",
	}
	for name, c := range map[string]struct {
		text   string
		reason task.Reason
		want   string // a part of the error
	}{
		"empty":  {"", task.Malformed, "the message is empty"},
		"blank":  {" \n ", task.Malformed, "is empty"},
		"prose":  {"hello, world!", task.Malformed, "neither a JSON object nor base64"},
		"array":  {"[1]", task.Malformed, "neither a JSON object"},
		"number": {"1234", task.Malformed, "neither a JSON object"},
		"base64 of prose": {
			base64.StdEncoding.EncodeToString([]byte("hello!!")), task.Malformed,
			"neither a JSON object",
		},
		"cut short":         {whole[:len(whole)-1], task.Malformed, "not valid JSON"},
		"two objects":       {whole + whole, task.Malformed, "not valid JSON"},
		"not UTF-8":         {"{\"a\":\"\xff\"}", task.Malformed, "not valid UTF-8"},
		"too large":         {strings.Repeat("a", task.MaxBytes+1), task.Malformed, "more than the limit"},
		"wrapped too often": {`"\"\\\"a\\\"\""`, task.Malformed, "wrapped"},
		"too deep":          {with(`"payload":{"a":` + deep + `}`), task.Malformed, "nested more than 64"},
		"NUL in payload": {
			with(`"payload":{"a":{"b":["x","y\u0000"]}}`), task.Malformed,
			`payload.a.b[1] has the character U+0000`,
		},
		"NUL in key": {
			with(`"payload":{"a":{"b\u0000c":1}}`), task.Malformed,
			`payload.a.b?c has the character U+0000`,
		},
		"half a pair, high": {with(`"payload":{"a":"\ud83d!"}`), task.Malformed, "surrogate"},
		"half a pair, low":  {with(`"payload":{"a":"\ude00"}`), task.Malformed, "surrogate"},
		"high high":         {with(`"payload":{"a":"\ud83d\ud83d\ude00"}`), task.Malformed, "surrogate"},
		"number out of range": {
			with(`"payload":{"a":[1,1e999]}`), task.Malformed,
			"payload.a[1] is a number out of",
		},
		"number too small": {with(`"payload":{"a":1e-999}`), task.Malformed, "payload.a is a number out of"},
		"number too long": {
			with(`"payload":{"a":0.` + strings.Repeat("0", 500) + `1}`), task.Malformed,
			"payload.a is a number",
		},
		"no id": {
			`{"task_type":"ocr","payload":{}}`, task.InvalidField,
			"task_id is missing; send 1 to 128",
		},
		"id with space":   {with(`"task_id":"a b"`), task.InvalidField, `task_id is "a b"`},
		"id with newline": {with(`"task_id":"a\n"`), task.InvalidField, `task_id has a control character`},
		"id too long": {
			with(`"task_id":"` + strings.Repeat("a", 129) + `"`), task.InvalidField,
			`task_id is "aaa`,
		},
		"id a number":      {with(`"task_id":17`), task.InvalidField, "task_id is a number, not a string"},
		"no type":          {`{"task_id":"t","payload":{}}`, task.InvalidField, "task_type is missing"},
		"bad type":         {with(`"task_type":"In Gest"`), task.InvalidField, `task_type is "In Gest"`},
		"no payload":       {`{"task_id":"t","task_type":"ocr"}`, task.InvalidPayload, "payload is missing"},
		"null payload":     {with(`"payload":null`), task.InvalidPayload, "payload is missing"},
		"payload an array": {with(`"payload":[]`), task.InvalidPayload, "payload is an array, not an object"},
		"other client": {
			with(`"client_id":"northport"`), task.WrongClient,
			`client_id is "northport", but this queue belongs to "southhaven"`,
		},
		"client a number": {with(`"client_id":3`), task.InvalidField, "client_id is a number"},
		"relative URL":    {with(`"webhook_url":"/hook"`), task.InvalidField, "webhook_url is not absolute"},
		"file URL": {
			with(`"webhook_url":"file:///etc/passwd"`), task.InvalidField,
			`has the scheme "file"`,
		},
		"URL without host":   {with(`"webhook_url":"https:///x"`), task.InvalidField, "has no host"},
		"opaque URL":         {with(`"webhook_url":"https:example.org"`), task.InvalidField, "has no host"},
		"URL with port only": {with(`"webhook_url":"https://:443/"`), task.InvalidField, "has no host"},
		"URL with port 0":    {with(`"webhook_url":"https://a:0/"`), task.InvalidField, "has a port outside"},
		"URL with user":      {with(`"webhook_url":"https://u:secret@a/"`), task.InvalidField, "has a user name"},
		"URL with space":     {with(`"webhook_url":"https://a/b c"`), task.InvalidField, "has white space"},
		"URL too long": {
			with(`"webhook_url":"https://a/` + strings.Repeat("x", 2048) + `"`),
			task.InvalidField, "longer than 2048",
		},
		"priority": {
			with(`"priority":"urgent"`), task.InvalidField,
			`priority is "urgent"; send high, normal or low`,
		},
		"hints an array": {with(`"hints":[]`), task.InvalidField, "hints is an array"},
		"force maybe": {
			with(`"hints":{"force":"maybe"}`), task.InvalidField,
			"hints.force is neither true nor false",
		},
		"force an object": {with(`"hints":{"force":{}}`), task.InvalidField, "hints.force is neither"},
		"timeout zero": {
			with(`"hints":{"timeout_seconds":0}`), task.InvalidField,
			"hints.timeout_seconds is 0; send a number of seconds",
		},
		"timeout negative": {
			with(`"hints":{"timeout_seconds":"-3"}`), task.InvalidField,
			"hints.timeout_seconds is -3",
		},
		"timeout endless": {
			with(`"hints":{"timeout_seconds":1e9}`), task.InvalidField,
			"hints.timeout_seconds is 1e+09",
		},
		"timeout not a number": {
			with(`"hints":{"timeout_seconds":"NaN"}`), task.InvalidField,
			`hints.timeout_seconds is "NaN"`,
		},
		"timeout an object": {
			with(`"hints":{"timeout_seconds":{}}`), task.InvalidField,
			"hints.timeout_seconds is an object",
		},
		"priority of a hint": {
			with(`"hints":{"priority":"urgent"}`), task.InvalidField,
			`hints.priority is "urgent"; send high, normal or low`,
		},
		"claim check a string": {`{"claim_check":"x"}`, task.InvalidField, "claim_check is a string"},
		"claim check no blob":  {`{"claim_check":{}}`, task.InvalidField, "claim_check.blob is missing or empty"},
		"claim check up": {
			`{"claim_check":{"blob":"a/../b"}}`, task.InvalidField,
			"claim_check.blob contains \"..\" as a folder",
		},
		"claim check slash": {
			`{"claim_check":{"blob":"/a"}}`, task.InvalidField,
			"claim_check.blob starts with \"/\"",
		},
		"requested_by an object": {with(`"requested_by":{}`), task.InvalidField, "requested_by is an object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := task.Decode(c.text, ours)
			invalid, ok := errors.AsType[*task.Invalid](err)
			if !ok {
				t.Fatalf("got %v, want an *Invalid", err)
			}
			if invalid.Reason != c.reason || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %s %q, want %s with %q", invalid.Reason, err, c.reason, c.want)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error repeats a secret: %q", err)
			}
			if published.Problem(schema, c.text) == "" && !slices.Contains(unsaid, name) {
				t.Error("it conforms to docs/schemas/message.schema.json")
			}
		})
	}
}

func TestKnownOfInvalid(t *testing.T) {
	t.Parallel()
	known := func(text string) task.Known {
		_, err := task.Decode(text, ours)
		invalid, ok := errors.AsType[*task.Invalid](err)
		if !ok {
			t.Fatalf("got %v, want an *Invalid", err)
		}
		return invalid.Known
	}
	got := known(strings.Replace(whole, "southhaven", "northport", 1))
	want := task.Known{
		TaskID: "t-1", Type: task.Ingest, Payload: json.RawMessage(`{"filename":"a.pdf","n":1.50}`),
		WebhookURL: "https://example.org/hook?token=secret", RequestedBy: "user-17", OtherClient: true,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("another client's: got %+v, want %+v", got, want)
	}
	got = known(strings.Replace(whole, `"t-1"`, `"no good"`, 1))
	if got.TaskID != "" || got.WebhookURL == "" || got.OtherClient {
		t.Errorf("a malformed id: got %+v", got)
	}
	got = known(`{"task_id":"t-1","task_type":"ocr","payload":{"a":"\u0000"},"webhook_url":"ftp://x/"}`)
	if got.TaskID != "t-1" || got.Payload != nil || got.WebhookURL != "" {
		t.Errorf("what can't be kept or called: got %+v", got)
	}
}
