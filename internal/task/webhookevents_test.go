package task_test

import (
	"slices"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

func TestWebhookEvents(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`null`:                              nil,
		`[]`:                                {},
		`["progress","started","progress"]`: {task.EventProgress, task.EventStarted},
		`["started","completed","failed"]`:  {task.EventStarted},
		`"started"`:                         {"refused"},
		`["started",1]`:                     {"refused"},
		`["everything"]`:                    {"refused"},
		`{"started":true}`:                  {"refused"},
	} {
		decoded, err := task.Decode(`{"task_id":"a","task_type":"ocr","payload":{},"webhook_events":`+text+`}`,
			task.Options{ClientID: "c"})
		if refused := len(want) > 0 && want[0] == "refused"; refused != (err != nil) {
			t.Errorf("%s: %v", text, err)
			continue
		} else if refused {
			continue
		}
		if got := decoded.Task.WebhookEvents; !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
		again, err := task.Encode(decoded.Task)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := task.Decode(again, task.Options{ClientID: "c"}); err != nil ||
			!slices.Equal(twice.Task.WebhookEvents, want) {
			t.Errorf("%s, encoded and decoded: %v, %v", text, twice.Task.WebhookEvents, err)
		}
	}
}
