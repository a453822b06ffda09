package task_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/test/contract/published"
	"github.com/seed-7227ef26/async-worker/test/errorlist"
)

func TestDecodeInvalid(t *testing.T) {
	t.Parallel()
	with := func(field string) string { // a task in which the field replaces or joins the valid ones
		return `{"task_id":"t-1","task_type":"ingest","payload":{"filename":"a.pdf","document_set":"s"},` + field + `}`
	}
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	schema := published.Message(t)
	list := errorlist.Read(t, "../../docs/errors.md")
	// Rules that JSON Schema can't express.
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
		"id a number": {with(`"task_id":17`), task.InvalidField, "task_id is a number, not a string"},
		"no type":     {`{"task_id":"t","payload":{}}`, task.InvalidField, "task_type is missing"},
		"bad type":    {with(`"task_type":"In Gest"`), task.InvalidField, `task_type is "In Gest"`},
		"type too long": {
			with(`"task_type":"` + strings.Repeat("a", 65) + `"`), task.InvalidField, `task_type is "aaa`,
		},
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
		"wait zero": {
			with(`"hints":{"max_wait_seconds":0.5}`), task.InvalidField,
			"hints.max_wait_seconds is 0.5; send a number of seconds from 1",
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
			if !list.Has(err.Error()) {
				t.Errorf("docs/errors.md lacks %q", err)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error contains a secret: %q", err)
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
		t.Errorf("values that can't be stored or called: got %+v", got)
	}
}
