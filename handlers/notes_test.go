package handlers_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
)

// journal keeps the last checkpoint as the store would.
type journal struct{ raw json.RawMessage }

func (*journal) Stage(string) error         { return nil }
func (*journal) Report(float64, string)     {}
func (j *journal) Checkpoint(v any)         { j.raw, _ = json.Marshal(v) }
func (*journal) Delta(string, bool)         {}
func (*journal) Pages(int, int)             {}
func (*journal) Save(context.Context) error { return nil }

func TestNotes(t *testing.T) {
	t.Parallel()
	j := &journal{}
	first := handlers.NewNotes(handlers.Call{Progress: j})
	var n int
	if first.Note("a").Load(&n) {
		t.Error("there is a note before one was saved")
	}
	first.Note("a").Save(1)
	first.Note("b").Save("two")
	first.Note("a").Save(3)

	second := handlers.NewNotes(handlers.Call{Progress: j, Checkpoint: j.raw})
	var text string
	if !second.Note("a").Load(&n) || n != 3 || !second.Note("b").Load(&text) || text != "two" ||
		second.Note("b").Load(&n) {
		t.Errorf("loaded %d and %q of %s", n, text, j.raw)
	}
	for _, foreign := range []string{"", "null", "7", "[]", "{"} {
		c := handlers.NewNotes(handlers.Call{Progress: j, Checkpoint: json.RawMessage(foreign)})
		c.Note("a").Save(1)
		if string(j.raw) != `{"a":1}` {
			t.Errorf("%q became %s", foreign, j.raw)
		}
	}
}
