package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
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

const speed = `{"type":"object","properties":{"speed":{"$ref":"#/$defs/speed"},"unit":{"enum":["m/s","kn"]}},"required":["speed","unit"],"additionalProperties":false,"$defs":{"speed":{"type":"integer","minimum":1}}}`

// The answer of an agent or ai task conforms to response_schema, or the model corrects it once, or the task fails.
func TestResponseSchema(t *testing.T) {
	t.Parallel()
	bed := newBench(t, nil)
	good, bad := object{"speed": 22, "unit": "m/s"}, object{
		"speed": "fast", "unit": "m/s", "secret": "text of a document",
	}
	for name, answers := range map[string][]any{
		"at once": {good}, "as a string of JSON": {`{"speed":22,"unit":"m/s"}`}, "corrected": {bad, good},
		"not corrected": {bad, bad},
	} {
		for _, kind := range []string{"agent", "ai"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				b := bed.with(t, func(n int, q llm.Question) llm.Answer {
					a := answers[n-1]
					if kind == "agent" {
						return finish(a)
					}
					raw, err := json.Marshal(object{"answer": a})
					if err != nil {
						t.Error(err)
					}
					return llm.Answer{Text: string(raw)}
				})
				h := agent.New(b.deps)
				if kind == "ai" {
					h = agent.NewAI(b.deps)
				}
				j := &handlertest.Progress{}
				r, err := b.try(h, fmt.Sprintf(`{"prompt":"x","response_schema":%s}`, speed), j)
				q := b.model.questions[0]
				if kind == "agent" {
					if f := q.Tools[len(q.Tools)-1]; f.Name != "finish" || !f.Strict ||
						!strings.Contains(string(f.Parameters), `"#/properties/answer/$defs/speed"`) {
						t.Errorf("finish is %s", f.Parameters)
					}
				} else if q.Schema == nil || !q.Schema.Strict || len(q.Tools) != 0 {
					t.Errorf("the schema is %+v", q.Schema)
				}
				if name == "not corrected" {
					failure := taskerr.Classify(err)
					if err == nil || failure.Class != taskerr.ValidationError ||
						failure.Code != strings.ToUpper(kind)+"_SCHEMA_NOT_MET" ||
						!strings.Contains(failure.Message, "type at /speed") ||
						strings.Contains(failure.Message, "text of a document") {
						t.Errorf("%v", err)
					}
					return
				}
				var got struct {
					Speed int
					Unit  string
				}
				if err != nil || json.Unmarshal(r.Answer, &got) != nil || got.Speed != 22 || got.Unit != "m/s" {
					t.Fatalf("%s, %v", r.Answer, err)
				}
				if len(answers) > 1 {
					last := b.model.questions[1].Turns
					if text := last[len(last)-1].Text; !strings.Contains(text, "/speed") ||
						!strings.Contains(text, "secret") {
						t.Errorf("the model was told %q", text)
					}
				}
				if name == "at once" && j.Text != `{"speed":22,"unit":"m/s"}` {
					t.Errorf("streamed %q", j.Text)
				}
			})
		}
	}
}

// A schema that an answer makes expensive ends the task and takes no slot, nor the worker's memory.
func TestSchemaTooComplex(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 40) + `7` + strings.Repeat(`}`, 40)
	b := newBench(t, func(int, llm.Question) llm.Answer { return finish(json.RawMessage(deep)) })
	_, err := b.try(agent.New(b.deps), `{"prompt":"x","response_schema":{"$defs":{"n":{"properties":{"a":{"anyOf":[
		{"$ref":"#/$defs/n"},{"$ref":"#/$defs/n"}]}},"additionalProperties":false,"type":"object"}},"$ref":"#/$defs/n"}}`,
		&handlertest.Progress{})
	if failure := taskerr.Classify(err); failure.Class != taskerr.ValidationError ||
		failure.Code != "AGENT_SCHEMA_TOO_COMPLEX" || len(b.model.questions) != 1 {
		t.Errorf("%v after %d questions", err, len(b.model.questions))
	}
}

// The ends of answers: cut off, filtered, refused, unfinished.
func TestEnds(t *testing.T) {
	t.Parallel()
	bed := newBench(t, nil)
	for name, c := range map[string]struct {
		kind   string
		script func(n int, q llm.Question) llm.Answer
		answer string
		code   string // of the error; empty: none
	}{
		"refused": {"agent", func(
			int, llm.Question,
		) llm.Answer {
			return llm.Answer{Text: "I will not.", End: llm.Refused}
		}, "I will not.", ""},
		"filtered": {
			"agent", func(int, llm.Question) llm.Answer { return llm.Answer{End: llm.Filtered} }, "",
			"AGENT_CONTENT_FILTERED",
		},
		"cut off": {"ai", func(int, llm.Question) llm.Answer {
			return llm.Answer{
				Text: "So far",
				End:  llm.CutOff,
			}
		}, "So far", ""},
		"nothing": {"ai", func(int, llm.Question) llm.Answer { return llm.Answer{} }, "", "AI_ANSWER_UNUSABLE"},
		"never finishes": {
			"agent", func(int, llm.Question) llm.Answer { return call("search", object{"query": "x"}) },
			"", "AGENT_UNFINISHED",
		},
		"finishes with others": {"agent", func(int, llm.Question) llm.Answer {
			return llm.Answer{Calls: []llm.ToolCall{toolCall("search", object{"query": "x"}), finish("Yes.").Calls[0]}}
		}, "Yes.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := bed.with(t, c.script)
			h := agent.New(b.deps)
			if c.kind == "ai" {
				h = agent.NewAI(b.deps)
			}
			r, err := b.try(h, `{"prompt":"x","max_steps":3}`, &handlertest.Progress{})
			if c.code != "" {
				if failure := taskerr.Classify(err); err == nil || failure.Code != c.code ||
					failure.Class != taskerr.ValidationError {
					t.Errorf("%+v, %v", r, err)
				}
				return
			}
			if err != nil || r.Text != c.answer || r.Refused != (name == "refused") {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
