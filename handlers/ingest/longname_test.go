package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/ocr"
	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// A name that the database can't find a row by is refused at once; the longest other one is ingested. Its characters are
// drawn: Postgres compresses long repetitions.
func TestLongNames(t *testing.T) {
	t.Parallel()
	const set = "docs"
	draw := rand.New(rand.NewPCG(1, 2))
	var name strings.Builder
	for name.Len() < handlers.MaxIndexed-len(set)-3 {
		name.WriteRune(rune(0x4E00 + draw.IntN(0x5000)))
	}
	longest := name.String() + strings.Repeat("a", handlers.MaxIndexed-len(set)-name.Len())
	b := newBench(t)
	b.Put("a.md", "# A\n\nThe harbour bills the crane.")
	payload := func(filename string) string {
		return fmt.Sprintf(`{"filename":%q,"blob":"a.md","document_set":%q}`, filename, set)
	}
	b.ingest(payload(longest), task.Hints{})
	if n := handlertest.Query[int](b.Bench, `select max(octet_length(filename)) from documents`); n != len(longest) {
		t.Errorf("a name of %d bytes is kept, want %d", n, len(longest))
	}
	for _, h := range []handlers.Handler{b.handler, ocr.New(ocr.Deps{}), summarize.New(summarize.Deps{})} {
		kind := h.Spec().Type
		if err := h.Check(task.Task{Type: kind, Payload: []byte(payload(longest))}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		err := h.Check(task.Task{Type: kind, Payload: []byte(payload(longest + "abcde"))})
		if e := taskerr.Classify(err); e.Class != taskerr.ValidationError || !strings.HasPrefix(e.Message, "payload.filename is too long: ") ||
			len(e.Message) > 300 {
			t.Errorf("%s: %v", kind, err)
		}
	}
	gone := strings.TrimSuffix(payload(longest+"a"), "}") + `,"delete":true}` // one that an older version let in, repeating itself
	if err := b.handler.Check(task.Task{Type: task.Ingest, Payload: []byte(gone)}); err != nil {
		t.Errorf("delete: %v", err)
	}
}
