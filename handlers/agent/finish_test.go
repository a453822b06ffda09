package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

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
						!strings.Contains(failure.Hint, "under a new task_id") || // a replay asks for the old schema
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
		"cut off, with a link": {
			"agent", func(int, llm.Question) llm.Answer {
				return llm.Answer{Text: "It goes on at https://evil.example/x", End: llm.CutOff}
			},
			"It goes on at https://evil.example/x", "",
		},
		"refused, with a link": {
			"agent", func(int, llm.Question) llm.Answer {
				return llm.Answer{Text: "Ask www.evil.example.", End: llm.Refused}
			},
			"Ask www.evil.example.", "",
		},
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
			if err != nil || r.Text != c.answer || r.Refused != strings.HasPrefix(name, "refused") {
				t.Errorf("%+v, %v", r, err)
			}
			if strings.Contains(strings.Join(r.Warnings, " "), "evil.example") != strings.HasSuffix(name, "with a link") {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
	}
}
