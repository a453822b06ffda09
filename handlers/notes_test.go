package handlers_test

import (
	"encoding/json"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	j := &handlertest.Progress{}
	first := handlers.NewNotes(handlers.Call{Progress: j})
	var n int
	if first.Note("a").Load(&n) {
		t.Error("a note exists before one was saved")
	}
	first.Note("a").Save(1)
	first.Note("b").Save("two")
	first.Note("a").Save(3)

	second := handlers.NewNotes(handlers.Call{Progress: j, Checkpoint: j.Pending})
	var text string
	if !second.Note("a").Load(&n) || n != 3 || !second.Note("b").Load(&text) || text != "two" ||
		second.Note("b").Load(&n) {
		t.Errorf("loaded %d and %q of %s", n, text, j.Pending)
	}
	for _, foreign := range []string{"", "null", "7", "[]", "{"} {
		c := handlers.NewNotes(handlers.Call{Progress: j, Checkpoint: json.RawMessage(foreign)})
		c.Note("a").Save(1)
		if string(j.Pending) != `{"a":1}` {
			t.Errorf("%q became %s", foreign, j.Pending)
		}
	}
}
