package task_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

// FuzzDecode: decoding any text gives a task that can be encoded and decoded again, or an *Invalid; base64 makes no
// difference.
func FuzzDecode(f *testing.F) {
	f.Add(whole)
	f.Add(base64.StdEncoding.EncodeToString([]byte(whole)))
	f.Add(`"{\"task_id\":\"a\"}"`)
	f.Add(`{"claim_check":{"blob":"a/b"}}`)
	f.Add(`{"specversion":"1.0","id":"1","source":"/","type":"t","data":{"job_id":"j","content_id":"a"}}`)
	f.Add(`{"specversion":"1.0","id":"1","source":"/","type":"t","data_base64":"e30="}`)
	f.Add(`{"task_id":"t","task_type":"ocr","payload":{"a":"\ud83d\ude00\u0000",  "b":[1e5,-0.0]},"hints":{"force":"1","x":null}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := task.Decode(text, ours)
		if err != nil {
			if _, ok := errors.AsType[*task.Invalid](err); !ok {
				t.Fatalf("%T is not an *Invalid: %v", err, err)
			}
			if !utf8.ValidString(err.Error()) || len(err.Error()) > 1024 {
				t.Fatalf("the error is not fit to print: %q", err)
			}
		}
		same(t, text, d, err)
		if err != nil || d.ClaimCheck != "" {
			return
		}
		encoded, err := task.Encode(d.Task)
		if err != nil {
			t.Fatalf("a decoded task can't be encoded: %v", err)
		}
		again, err := task.Decode(encoded, ours)
		if err != nil {
			t.Fatal(err)
		}
		d.Task.Ignored = nil
		if task.Fingerprint(again.Task) != task.Fingerprint(d.Task) {
			t.Fatalf("the payload changed: %s, then %s", d.Task.Payload, again.Task.Payload)
		}
		again.Task.Payload = d.Task.Payload // encoding takes out its white space
		if !reflect.DeepEqual(again.Task, d.Task) {
			t.Fatalf("got %+v, want %+v", again.Task, d.Task)
		}
	})
}

// same checks that base64 of a JSON object is decoded like the object itself.
func same(t *testing.T, text string, want task.Decoded, wantErr error) {
	t.Helper()
	if !json.Valid([]byte(text)) || text == "" || text[0] != '{' {
		return
	}
	got, err := task.Decode(base64.RawURLEncoding.EncodeToString([]byte(text)), ours)
	if !reflect.DeepEqual(got, want) || fmt.Sprintf("%+v", err) != fmt.Sprintf("%+v", wantErr) {
		t.Fatalf("as base64: got %+v, %v, want %+v, %v", got, err, want, wantErr)
	}
}

// FuzzFingerprint: white space and order make no difference, and nothing panics.
func FuzzFingerprint(f *testing.F) {
	f.Add(`{"a":[1.50,-0,1e2,true,null,"x"],"b":{}}`)
	f.Add(`{"a":1e99999999999999999999}`)
	f.Fuzz(func(t *testing.T, payload string) {
		want := task.Fingerprint(task.Task{Type: "ocr", Payload: json.RawMessage(payload)})
		var value map[string]any
		if json.Unmarshal([]byte(payload), &value) != nil {
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(payload), &members); err != nil {
			t.Fatal(err)
		}
		sorted, err := json.MarshalIndent(members, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if got := task.Fingerprint(task.Task{Type: "ocr", Payload: sorted}); got != want {
			t.Fatalf("%s and %s differ", payload, sorted)
		}
	})
}
