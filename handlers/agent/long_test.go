package agent_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// shownPart is a passage in a result, within its tags, and the note behind it.
var shownPart = regexp.MustCompile(`(?s)^<document-text-\w+ [^>]*>\n(.*)\n</document-text-\w+>\n(.*)$`)

// A passage that is too long for one result is closed where it is cut, does not count as shown, and can be read to its
// end.
func TestLongPassage(t *testing.T) {
	t.Parallel()
	long := "It begins. " + strings.Repeat("Le quai a été fermé. ", 300) + "It ends."
	next := regexp.MustCompile(`"from": (\d+)`)
	var chunks, parts []string
	b := newBench(t, func(n int, q llm.Question) llm.Answer {
		switch n {
		case 1:
			return call("search", object{"query": "quai"})
		case 2:
			return call("read_chunks", object{"ids": chunks})
		}
		got := results(q)[n-2]
		part := shownPart.FindStringSubmatch(got)
		if part == nil {
			t.Errorf("result %d: %s", n-1, got)
			return finish("It ends.")
		}
		parts = append(parts, part[1])
		if from := next.FindStringSubmatch(part[2]); from != nil {
			at, err := strconv.Atoi(from[1])
			if err != nil {
				t.Error(err)
			}
			return call("read_chunks", object{"ids": chunks, "from": at})
		}
		return finish("It ends [1].", chunks[0], "It ends.")
	})
	b.deps.Window = 8000
	chunks = b.document("harbour", "a.pdf", long)
	if r := b.ask(`{"prompt":"What?","document_set":"harbour"}`); len(r.Citations) != 1 {
		t.Errorf("%+v", r)
	}
	if len(parts) < 2 || strings.Join(parts, "") != long {
		t.Errorf("%d parts: %q", len(parts), parts)
	}
	b.expectDelimited("a.pdf")
}

// Lines of grep that are too long for one result are closed where they are cut.
func TestManyLines(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(n int, q llm.Question) llm.Answer {
		if n == 1 {
			return call("grep", object{"document": "a.pdf", "pattern": "quay"})
		}
		if got := results(q)[0]; !shownPart.MatchString(got) || !strings.Contains(got, "there may be more") {
			t.Errorf("%s", got)
		}
		return finish("Yes.")
	})
	b.deps.Window = 8000
	b.document("harbour", "a.pdf", strings.Repeat("The quay is closed on this day, and on all the others. "+
		"Boats find another.\n", 70))
	b.ask(`{"prompt":"What?","document_set":"harbour"}`)
}
