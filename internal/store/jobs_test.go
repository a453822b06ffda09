package store_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// TestArguments: the SQL functions read these fields, whether a type has them itself or embeds a Task.
func TestArguments(t *testing.T) {
	t.Parallel()
	task := store.Task{
		JobID: "j", Type: "t", Payload: json.RawMessage(`{"a":1}`), Hints: json.RawMessage(`{}`), Priority: "high",
		WebhookURL: "https://h.example", RequestedBy: "r", TraceParent: "tp", Fingerprint: "f", MaxAttempts: 3,
	}
	source := store.Source{Queue: "q", MessageID: "m", InsertedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	const (
		taskFields = `"job_id":"j","type":"t","payload":{"a":1},"hints":{},"priority":"high",` +
			`"webhook_url":"https://h.example","requested_by":"r","traceparent":"tp","fingerprint":"f","max_attempts":3`
		noTask = `"job_id":"","type":"","payload":null,"hints":null,"priority":"","fingerprint":"",` +
			`"max_attempts":0`
		sourceFields = `"source":{"queue":"q","message_id":"m","inserted_at":"2026-01-02T03:04:05Z"},` +
			`"original_message":"o"`
		noError = `"error":{"type":"","class":"","code":"","message":"","retryable":false,"error_type":"",` +
			`"processing_time_ms":0}`
	)
	for _, c := range []struct {
		args any
		want string
	}{
		{
			store.Begin{
				Task: task, Force: true, Worker: "w", Lease: time.Minute, Source: source, Original: "o", ID: "b",
				Unanswered: []string{"x"},
			},
			`{` + taskFields + `,"force":true,"worker":"w",` + sourceFields + `,"begin_id":"b","unanswered":["x"]}`,
		},
		{store.Begin{}, `{` + noTask + `,"worker":"","source":{},"original_message":"","begin_id":""}`},
		{
			store.Submission{Task: task, Queue: "q", Message: "o"},
			`{` + taskFields + `,"queue":"q","message":"o"}`,
		},
		{store.Submission{}, `{` + noTask + `,"queue":"","message":""}`},
		{
			store.Rejection{
				JobID: "j", Type: "t", Payload: task.Payload, WebhookURL: "https://h.example", RequestedBy: "r",
				Record: true, Reason: "malformed", Worker: "w", Source: source, Original: "o",
			},
			`{"job_id":"j","type":"t","payload":{"a":1},"webhook_url":"https://h.example","requested_by":"r",` +
				`"record":true,` + noError + `,"reason":"malformed","worker":"w",` + sourceFields + `}`,
		},
		{store.Rejection{}, `{"record":false,` + noError + `,"reason":"","source":{},"original_message":""}`},
	} {
		text, err := json.Marshal(c.args)
		if err != nil {
			t.Fatal(err)
		}
		var got, want map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%T: %s, want %s", c.args, text, c.want)
		}
	}
}
