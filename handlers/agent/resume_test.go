package agent_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// walk is a run of six answers, which depend only on the conversation, like those of a model.
func walk(chunks *[]string) func(int, llm.Question) llm.Answer {
	return func(_ int, q llm.Question) llm.Answer {
		answers := 0
		for _, t := range q.Turns {
			if t.Role == llm.Assistant {
				answers++
			}
		}
		switch answers {
		case 0:
			return call("list_documents", object{"filter": "hand"})
		case 1:
			return llm.Answer{
				Text: "Now", Calls: []llm.ToolCall{
					toolCall("search", object{"query": "wind"}),
					toolCall("outline", object{"document": "handbook.pdf"}),
				},
			}
		case 2:
			return call("grep", object{"document": "handbook.pdf", "pattern": "rail"})
		case 3:
			return call("search", object{"query": "wind"}) // repeated
		case 4:
			return finish("22 [1]", (*chunks)[0], "forged")
		}
		return finish("22 [1]", (*chunks)[0], "22 m/s")
	}
}

// A worker that is killed after any step, or after every step, gives the same answer to the same questions and pays for
// no step twice, except for one that was not saved before the kill.
func TestKilledAfterEachStep(t *testing.T) {
	t.Parallel()
	var chunks []string
	bed := newBench(t, nil)
	chunks = bed.document("harbour", "handbook.pdf", wind, "The pilots live ashore.")
	run := func(j *handlertest.Progress) (result, []llm.Question, []int) {
		b := bed.served(t, walk(&chunks))
		r, err := b.try(agent.New(b.deps), `{"prompt":"At what wind speed?","document_set":"harbour"}`, j)
		if err != nil {
			t.Fatal(err)
		}
		return r, b.model.questions, b.model.billed
	}
	want, asked, _ := run(&handlertest.Progress{})
	if want.Text != "22 [1]" || len(want.Citations) != 1 || len(asked) != 6 || want.Steps != 5 {
		t.Fatalf("%+v after %d questions", want, len(asked))
	}
	kills := [][]int{{1}, {2}, {3}, {4}, {5}, {6}, {1, 2, 3, 4, 5, 6}}
	for _, kill := range kills {
		for _, lose := range []bool{false, true} {
			if lose && len(kill) > 1 {
				continue // each attempt would lose its step
			}
			j := &handlertest.Progress{KillAfter: kill, LoseSave: lose}
			got, questions, billed := run(j)
			paid, tokens := len(asked), sum(billed)
			if lose {
				paid++
				tokens -= billed[kill[0]-1] // the lost answer
			}
			if got.Text != want.Text || len(got.Citations) != 1 || got.Citations[0].Quote != want.Citations[0].Quote ||
				got.Steps != want.Steps {
				t.Errorf("killed after %v: %+v", kill, got)
			}
			if len(questions) != paid || got.PromptTokens != tokens {
				t.Errorf("killed after %v: %d questions, want %d; %d tokens in the result, want %d", kill,
					len(questions), paid, got.PromptTokens, tokens)
			}
			if j.Text != "22 [1]" {
				t.Errorf("killed after %v: streamed %q", kill, j.Text)
			}
			last, before := questions[len(questions)-1], asked[len(asked)-1]
			if a, b := shapeOf(last), shapeOf(before); a != b {
				t.Errorf("killed after %v: the last question is\n%s\nwant\n%s", kill, a, b)
			}
		}
	}
}

func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}

// shapeOf returns a question without ids and marks, which differ in each run.
func shapeOf(q llm.Question) string {
	var b strings.Builder
	for _, t := range q.Turns {
		fmt.Fprintf(&b, "%s %d calls, %d bytes\n", t.Role, len(t.Calls), len(t.Text))
	}
	return b.String()
}

// A long run fits into the model's context: old results are dropped, and the checkpoint stays small.
func TestContext(t *testing.T) {
	t.Parallel()
	passages := make([]string, 30)
	for i := range passages {
		passages[i] = fmt.Sprintf("Passage %d. ", i) + strings.Repeat(
			fmt.Sprintf("The harbour of berth number %d is deep and wide. ", i), 20)
	}
	counter := func(q llm.Question, b *bench) (n int) {
		n = b.deps.Counter.Count(q.System)
		for _, t := range q.Turns {
			n += b.deps.Counter.Count(t.Text)
		}
		for _, t := range q.Tools {
			n += b.deps.Counter.Count(string(t.Parameters)) + b.deps.Counter.Count(t.Description)
		}
		return n
	}
	var chunks []string
	const steps = 20
	b := newBench(t, func(n int, _ llm.Question) llm.Answer {
		if n >= steps {
			return finish("Deep [1].", chunks[0], "Passage 0.")
		}
		return call("read_chunks", object{"ids": chunks[n : n+4]})
	})
	chunks = b.document("harbour", "a.pdf", passages...)
	b.deps.Window = 8000
	j := &handlertest.Progress{}
	history := slices.Repeat([]string{`{"role":"user","content":"` + strings.Repeat("many words ", 500) + `"}`}, 20)
	r, err := b.try(agent.New(b.deps), `{"prompt":"How deep?","history":[`+strings.Join(history, ",")+`]}`, j)
	if err != nil || r.Ended != "max_steps" || r.DroppedCitations != 1 { // never read: chunks[0]
		t.Errorf("%+v, %v", r, err)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.Contains(w,
			"of the history did not fit")
	}) {
		t.Errorf("warnings %q", r.Warnings)
	}
	shortened := false
	for i, q := range b.model.questions {
		if n := counter(q, b) + q.MaxTokens; n > b.deps.Window {
			t.Errorf("question %d has %d tokens with its answer", i+1, n)
		}
		shortened = shortened || strings.Contains(strings.Join(results(q), ""), "was left out to save room")
		if rs := results(q); len(rs) > 0 && i < steps && !strings.Contains(rs[len(rs)-1], "Passage") {
			t.Errorf("question %d: the newest result is %q", i+1, rs[len(rs)-1])
		}
	}
	if !shortened || j.Largest > 60_000 {
		t.Errorf("shortened %v, the largest checkpoint has %d bytes", shortened, j.Largest)
	}
	if _, err := b.try(agent.New(b.deps), fmt.Sprintf(`{"prompt":%q}`, strings.Repeat("many words ", 5000)),
		&handlertest.Progress{}); taskerr.Classify(err).Code != "AGENT_PROMPT_TOO_LONG" {
		t.Errorf("a prompt that never fits: %v", err)
	}
}

// A question that is too long for the service is shortened and sent again.
func TestTooLong(t *testing.T) {
	t.Parallel()
	var chunks []string
	b := newBench(t, func(n int, _ llm.Question) llm.Answer {
		if n < 4 {
			return call("read_chunks", object{"ids": chunks[n-1 : n]})
		}
		return finish("Yes.")
	})
	long := strings.Repeat("The harbour is deep and wide, and has many berths. ", 150)
	chunks = b.document("harbour", "a.pdf", "1 "+long, "2 "+long, "3 "+long)
	b.model.errs = map[int]error{
		4: &taskerr.Error{Class: taskerr.ValidationError, Message: "too long", Cause: &llm.TooLong{Window: 6000}},
	}
	if r := b.ask(`{"prompt":"Deep?"}`); r.Text != "Yes." {
		t.Errorf("%+v", r)
	}
	if first, second := results(b.model.questions[3]), results(b.model.questions[4]); len(second[0]) >= len(first[0]) ||
		len(second[2]) != len(first[2]) {
		t.Errorf("the question was not shortened: %d, %d", len(first[0]), len(second[0]))
	}
}

// A checkpoint of another version is ignored.
func TestForeignCheckpoint(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(int, llm.Question) llm.Answer { return finish("Yes.") })
	for _, raw := range []string{`{"version":99,"turns":[{"role":"assistant"}]}`, `"x"`, `{}`, `[]`} {
		j := &handlertest.Progress{Saved: json.RawMessage(raw)}
		if r, err := b.try(agent.New(b.deps), `{"prompt":"x"}`, j); err != nil || r.Text != "Yes." {
			t.Errorf("%s: %+v, %v", raw, r, err)
		}
	}
	if reflect.DeepEqual(b.model.questions[0].System, b.model.questions[1].System) {
		t.Error("two runs have the same mark")
	}
}
