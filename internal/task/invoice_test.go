package task_test

import (
	"encoding/json"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/task"
)

func TestNameInvoice(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		`{}`: `{"filename":"uploads/a.pdf"}`,
		`{"filename":"","source_uri":null,"pretty":true,"unheard":1.50}`: `{"filename":"uploads/a.pdf","pretty":true,"source_uri":null,"unheard":1.50}`,
		`{"filename": "b.pdf"}`:          `{"filename": "b.pdf"}`,
		`{"source_uri": "blob:b.pdf"}`:   `{"source_uri": "blob:b.pdf"}`,
		`{"Filename":"b.pdf"}`:           `{"Filename":"b.pdf","filename":"uploads/a.pdf"}`, // another member
		`{"filename": 7}`:                `{"filename": 7}`,
		`{"filename":"","source_uri":7}`: `{"filename":"","source_uri":7}`,
		`null`:                           `null`,
		`[]`:                             `[]`,
		``:                               ``,
	} {
		if got := string(task.NameInvoice(json.RawMessage(payload), "a")); got != want {
			t.Errorf("%s becomes %s, want %s", payload, got, want)
		}
	}
}
