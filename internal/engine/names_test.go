package engine_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/job"
)

// named is a handler that tells the fields of its payload.
type named struct{ handlerFunc }

func (n named) Spec() handlers.Spec {
	s := n.handlerFunc.Spec()
	s.Payload = reflect.TypeFor[struct {
		Refuse bool `json:"refuse"`
	}]()
	return s
}

// TestUnknownFields: a field of the payload that the handler does not read is ignored, and the log names it.
func TestUnknownFields(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.startWith(named{done})
		w.send(w.queues.Normal, `{"task_id":"a","task_type":"test","payload":{"refuse":false,"documentSet":"s"}}`)
		w.settled(time.Minute)
		w.expectState("a", job.Succeeded, 1)
		w.expectLog("payload.documentSet")
	})
}
