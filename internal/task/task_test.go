package task_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

func TestValidClientID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "7", "default", "south-haven", "a-b-c", strings.Repeat("x", 28)} {
		if err := task.ValidClientID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for _, id := range []string{"", "-a", "a-", "a--b", "A", "a_b", "a.b", "ä", "a\n", strings.Repeat("x", 29)} {
		if task.ValidClientID(id) == nil {
			t.Errorf("%q was accepted", id)
		}
	}
}

func TestQueueNames(t *testing.T) {
	t.Parallel()
	q := task.QueueNames("southhaven")
	want := task.Queues{
		High: "southhaven-tasks-high", Normal: "southhaven-tasks", Low: "southhaven-tasks-low",
		DeadLetter: "southhaven-tasks-deadletter",
	}
	if q != want {
		t.Errorf("got %+v", q)
	}
	if !reflect.DeepEqual(q.Work(), []string{q.High, q.Normal, q.Low}) {
		t.Errorf("Work: got %v", q.Work())
	}
	for p, name := range map[task.Priority]string{
		task.PriorityHigh: q.High, task.PriorityNormal: q.Normal, task.PriorityLow: q.Low, "": q.Normal,
	} {
		if q.For(p) != name {
			t.Errorf("For(%q): got %s", p, q.For(p))
		}
	}
	if n := len(task.QueueNames(strings.Repeat("x", 28)).DeadLetter); n > 63 {
		t.Errorf("the longest name has %d characters; a queue's may have 63", n)
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	of := func(typ task.Type, payload string) string {
		return task.Fingerprint(task.Task{ID: "t", Type: typ, Payload: json.RawMessage(payload)})
	}
	base := of("ocr", `{"a":1,"b":[1200,"é<"],"c":{"x":0,"y":null}}`)
	if len(base) != 64 {
		t.Fatalf("got %q, want 64 hex digits", base)
	}
	for _, same := range []string{
		` { "c":{"y":null,"x":-0.0}, "b":[1.2e3,"\u00e9\u003c"] , "a":1.0 } `,
		`{"a":0.1e1,"b":[12E+2,"é<"],"c":{"x":0e5,"y":null}}`,
		`{"a":2,"a":1,"b":[1200.000,"é<"],"c":{"x":0,"y":null}}`,
	} {
		if of("ocr", same) != base {
			t.Errorf("%s differs", same)
		}
	}
	for _, other := range []string{
		`{"a":-1,"b":[1200,"é<"],"c":{"x":0,"y":null}}`,
		`{"a":"1","b":[1200,"é<"],"c":{"x":0,"y":null}}`,
		`{"a":1,"b":["é<",1200],"c":{"x":0,"y":null}}`,
		`{"a":1,"b":[1200,"é<"],"c":{"x":0}}`,
		`{"a":10,"b":[1200,"é<"],"c":{"x":0,"y":null}}`,
	} {
		if of("ocr", other) == base {
			t.Errorf("%s has the same fingerprint", other)
		}
	}
	if of("ingest", `{}`) == of("ocr", `{}`) {
		t.Error("two types have the same fingerprint")
	}
	// Beyond a double's precision, where RFC 8785 would not tell them apart.
	if of("ocr", `{"n":9007199254740993}`) == of("ocr", `{"n":9007199254740992}`) {
		t.Error("two large numbers have the same fingerprint")
	}
}

// tasks draws valid ones.
func tasks() *rapid.Generator[task.Task] {
	numbers := rapid.Float64().Filter(func(f float64) bool { return f == 0 || math.Abs(f) >= 1e-308 }) // maxExponent
	values := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[ -~äß€😀]{1,20}`))
	return rapid.Custom(func(t *rapid.T) task.Task {
		payload, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.OneOf(
			numbers.AsAny(), rapid.Int64().AsAny(), values.AsAny(), rapid.Bool().AsAny(),
		)).Draw(t, "payload"))
		if err != nil {
			t.Fatal(err)
		}
		seconds := rapid.Float64Range(0.001, 86400).Draw(t, "seconds")
		return task.Task{
			ID:      rapid.StringMatching(`[A-Za-z0-9._:-]{1,128}`).Draw(t, "id"),
			Type:    task.Type(rapid.StringMatching(`[a-z][a-z0-9._-]{0,20}`).Draw(t, "type")),
			Payload: payload, Priority: rapid.SampledFrom([]task.Priority{"high", "normal", "low"}).Draw(t, "priority"),
			WebhookURL: rapid.SampledFrom([]string{
				"", "https://example.org/a?b=c&d=%20", "http://[::1]:8080",
			}).Draw(t, "url"),
			ClientID:    rapid.SampledFrom([]string{"", "southhaven"}).Draw(t, "client"),
			RequestedBy: values.Draw(t, "by"), TraceParent: rapid.SampledFrom([]string{"", trace}).Draw(t, "trace"),
			Hints: task.Hints{
				Force: rapid.Bool().Draw(t, "force"), TimeoutSec: seconds,
				Timeout:    time.Duration(seconds * float64(time.Second)),
				Resolution: rapid.IntRange(0, 100000).Draw(t, "resolution"), OutputFormat: values.Draw(t, "format"),
			},
		}
	})
}

func TestEncodeRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := tasks().Draw(t, "task")
		if strings.Contains(string(want.Payload), `\u0000`) {
			t.Skip("the database can't keep U+0000")
		}
		text, err := task.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := task.Decode(text, ours)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Task, want) {
			t.Fatalf("got  %+v\nwant %+v", got.Task, want)
		}
	})
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]task.Task{
		"no id":      {Type: "ocr", Payload: json.RawMessage(`{}`)},
		"no payload": {ID: "t", Type: "ocr"},
		"no JSON":    {ID: "t", Type: "ocr", Payload: json.RawMessage(`{`)},
		"bad URL":    {ID: "t", Type: "ocr", Payload: json.RawMessage(`{}`), WebhookURL: "ftp://a"},
	} {
		if text, err := task.Encode(bad); err == nil {
			t.Errorf("%s: got %s", name, text)
		}
	}
	// The duration alone is enough.
	text, err := task.Encode(task.Task{
		ID: "t", Type: "ocr", Payload: json.RawMessage(`{}`), Hints: task.Hints{Timeout: 90 * time.Second},
	})
	if err != nil || !strings.Contains(text, `"timeout_seconds":90`) {
		t.Errorf("got %s, %v", text, err)
	}
}

func ExampleDecode() {
	message := `eyJ0YXNrX2lkIjoiNDciLCJ0YXNrX3R5cGUiOiJvY3IiLCJwYXlsb2FkIjp7ImZpbGVuYW1lIjoiYS5wbmcifX0=`
	d, err := task.Decode(message, task.Options{ClientID: "southhaven"})
	fmt.Println(d.Task.ID, d.Task.Type, string(d.Task.Payload), err)

	_, err = task.Decode(`{"task_id": "47", "payload": {}}`, task.Options{ClientID: "southhaven"})
	fmt.Println(err)
	// Output:
	// 47 ocr {"filename":"a.png"} <nil>
	// task_type is missing; send a task type, such as ingest or summarize
}
