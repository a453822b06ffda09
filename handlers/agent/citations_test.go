package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// Citations hold, or the model corrects them once, or they are dropped with a warning.
func TestCitations(t *testing.T) {
	t.Parallel()
	var harbour, other []string
	bed := newBench(t, nil)
	harbour, other = bed.document("harbour", "handbook.pdf", wind, "The pilots live ashore."),
		bed.document("other", "secret.pdf", "The secret.")
	search := func() llm.Answer { return call("search", object{"query": "wind speed", "k": 1}) }
	unread := func() string { return harbour[1] }
	for name, c := range map[string]struct {
		first, second func() llm.Answer
		answer        string
		citations     int
		dropped       int
		steps         int
		sent          string // to the model
	}{
		"corrected": {
			first:  func() llm.Answer { return finish("22 [1]", harbour[0], "pinned at 23 m/s") },
			second: func() llm.Answer { return finish("22 [1]", harbour[0], "22 m/s") },
			answer: "22 [1]", citations: 1, steps: 2, sent: "citation 1: its quote does not occur",
		},
		"forged twice": {
			first: func() llm.Answer {
				return finish("A [1], B [2], C [3], D [1, 2] [9]", "00000000-0000-4000-8000-000000000000", "x",
					harbour[0], "22 m/s", unread(), "ashore")
			},
			second: func() llm.Answer {
				return finish("A [1], B [2], C [3], D [1, 2] [9]", "00000000-0000-4000-8000-000000000000", "x",
					harbour[0], "22 m/s", unread(), "ashore")
			},
			answer: "A, B [1], C, D [1] [9]", citations: 1, dropped: 2, steps: 2, sent: "was not read in this run",
		},
		"of another set": {
			first:  func() llm.Answer { return finish("A [1]", other[0], "The secret") },
			second: func() llm.Answer { return finish("A [1]", other[0], "The secret") },
			answer: "A", dropped: 1, steps: 2, sent: "was not read in this run",
		},
		"a part of a number": {
			first:  func() llm.Answer { return finish("2 [1]", harbour[0], "2 m/s") },
			second: func() llm.Answer { return finish("22 [1]", harbour[0], "22 m/s") },
			answer: "22 [1]", citations: 1, steps: 2, sent: "whole words and numbers",
		},
		"an empty quote": {
			first:  func() llm.Answer { return finish("A [1]", harbour[0], " . ") },
			second: func() llm.Answer { return finish("A") },
			answer: "A", steps: 2, sent: "its quote does not occur",
		},
		"a text": {
			first:  func() llm.Answer { return llm.Answer{Text: "It is 22 m/s."} },
			second: func() llm.Answer { return finish("22 [1]", harbour[0], "22 m/s") },
			answer: "22 [1]", citations: 1, steps: 2, sent: "Call finish now",
		},
		"a text, twice": {
			first:  func() llm.Answer { return llm.Answer{Text: "It is 22 m/s."} },
			second: func() llm.Answer { return llm.Answer{Text: "It is 22 m/s!"} },
			answer: "It is 22 m/s!", steps: 2, sent: "Call finish now",
		},
		"not finished": {
			first:  func() llm.Answer { return call("finish", `{"answer":"cut of`) },
			second: func() llm.Answer { return finish("22", harbour[0], "22 m/s") },
			answer: "22", citations: 1, steps: 2, sent: "the arguments are not right",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := bed.with(t, func(n int, _ llm.Question) llm.Answer {
				switch n {
				case 1:
					return search()
				case 2:
					return c.first()
				}
				return c.second()
			})
			r := b.ask(`{"prompt":"At what wind speed?","document_set":"harbour"}`)
			if r.Text != c.answer || len(r.Citations) != c.citations || r.DroppedCitations != c.dropped ||
				r.Steps != c.steps {
				t.Errorf("%+v", r)
			}
			q := b.model.questions[len(b.model.questions)-1]
			if last := q.Turns[len(q.Turns)-1]; !strings.Contains(last.Text, c.sent) || q.Force != "finish" {
				t.Errorf("told %q, forced %q", last.Text, q.Force)
			}
			if c.dropped > 0 != slices.ContainsFunc(r.Warnings,
				func(w string) bool { return strings.Contains(w, "could not be verified") }) {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
	}
}

// The references in an object follow its citations, unless it would no longer conform to response_schema.
func TestCitationsOfObject(t *testing.T) {
	t.Parallel()
	bed := newBench(t, nil)
	chunks := bed.document("harbour", "handbook.pdf", wind)
	for name, c := range map[string]struct {
		schema, answer string
		kept           bool // the numbers of before
	}{
		"any text":    {`{"type":"string"}`, `{"text": "A, B [1]"}`, false},
		"a fixed one": {`{"pattern":"B .2.$"}`, `{"text": "A [1], B [2]"}`, true},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			b := bed.with(t, func(n int, _ llm.Question) llm.Answer {
				if n == 1 {
					return call("search", object{"query": "wind speed"})
				}
				return finish(object{"text": "A [1], B [2]"}, chunks[0], "23 m/s", chunks[0], "22 m/s")
			})
			r := b.ask(fmt.Sprintf(
				`{"prompt":"x","response_schema":{"type":"object","properties":{"text":%s}}}`, c.schema))
			if string(r.Answer) != c.answer || len(r.Citations) != 1 || r.DroppedCitations != 1 {
				t.Errorf("%s, %+v", r.Answer, r)
			}
			if c.kept != slices.ContainsFunc(r.Warnings,
				func(w string) bool { return strings.Contains(w, "would not conform") }) {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
	}
}

// More citations than are kept are dropped like others.
func TestManyCitations(t *testing.T) {
	t.Parallel()
	var chunks []string
	b := newBench(t, func(n int, _ llm.Question) llm.Answer {
		if n == 1 {
			return call("search", object{"query": "wind speed"})
		}
		return finish("A [100], B [101].", slices.Repeat([]string{chunks[0], "22 m/s"}, 101)...)
	})
	chunks = b.document("harbour", "handbook.pdf", wind)
	r := b.ask(`{"prompt":"x"}`)
	if r.Text != "A [100], B." || len(r.Citations) != 100 || r.DroppedCitations != 1 || len(r.Warnings) != 1 ||
		!strings.Contains(r.Warnings[0], "more than 100") {
		t.Errorf("%q, %d citations, %d dropped, %q", r.Text, len(r.Citations), r.DroppedCitations, r.Warnings)
	}
	q := b.model.questions[2]
	if last := q.Turns[len(q.Turns)-1]; !strings.Contains(last.Text, "101 citations") {
		t.Errorf("told %q", last.Text)
	}
}

// A chunk that was replaced after it was read can't be cited.
func TestCitationOfReplacedChunk(t *testing.T) {
	t.Parallel()
	var b *bench
	var old []string
	b = newBench(t, func(n int, _ llm.Question) llm.Answer {
		switch n {
		case 1:
			return call("search", object{"query": "wind speed"})
		case 2:
			b.document("harbour", "handbook.pdf", "Something else.")
		}
		return finish("22 m/s [1].", old[0], "22 m/s")
	})
	old = b.document("harbour", "handbook.pdf", wind)
	if r := b.ask(`{"prompt":"At what wind speed?"}`); r.Text != "22 m/s." || r.DroppedCitations != 1 {
		t.Errorf("%+v", r)
	}
}
