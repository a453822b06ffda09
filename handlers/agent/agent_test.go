package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const wind = "The quay cranes are parked and pinned to the rail at a wind speed of 22 m/s."

// A well-behaved model finds an answer with citations. The row has who asked and the cost.
func TestAnswer(t *testing.T) {
	t.Parallel()
	var chunks []string
	b := newBench(t, func(n int, q llm.Question) llm.Answer {
		switch n {
		case 1:
			return call("list_documents", object{})
		case 2:
			return call("search", object{"query": "wind speed cranes", "k": 2})
		case 3:
			return llm.Answer{Text: "Let me read.", Calls: []llm.ToolCall{
				toolCall("read_chunks", object{"ids": []string{chunks[1]}, "neighbours": 1}),
				toolCall("outline", object{"document": "handbook.pdf"}),
				toolCall("grep", object{"document": "handbook.pdf", "pattern": `(?i)\d+ m/s`}),
			}}
		}
		return finish("At 22 m/s [1].", chunks[1], "pinned to the rail at a wind speed\nof 22 m/s")
	})
	chunks = b.document("harbour", "handbook.pdf", "Boats are cleaned in spring.", wind, "The pilots live ashore.")
	j := &handlertest.Progress{}
	r, err := b.try(agent.New(b.deps), `{"prompt":"At what wind speed are the cranes parked?","document_set":"harbour","history":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]}`, j)
	if err != nil {
		t.Fatal(err)
	}
	if r.Text != "At 22 m/s [1]." || len(r.Citations) != 1 || r.Steps != 4 || r.Model != "scripted-1" ||
		r.PromptTokens != 400 || r.CompletionTokens != 40 ||
		r.Ended != "answered" || r.DroppedCitations != 0 || len(r.Warnings) != 0 {
		t.Errorf("%+v", r)
	}
	if c := r.Citations[0]; c.ChunkID != chunks[1] || c.Filename != "handbook.pdf" || c.Page == nil || *c.Page != 2 ||
		c.DocumentID == "" || c.Quote != "pinned to the rail at a wind speed of 22 m/s" {
		t.Errorf("%+v", c)
	}
	if j.Text != "At 22 m/s [1]." || j.Restarts != 1 { // after "Let me read."
		t.Errorf("streamed %q with %d restarts", j.Text, j.Restarts)
	}
	if got := strings.Join(j.Stages, " "); got != "preparing_context sending_prompt streaming_response finalizing" {
		t.Errorf("stages %s", got)
	}
	if got := strings.Join(j.Messages, "; "); got != "step 1: list_documents; step 2: search; step 3: read_chunks, "+
		"outline, grep; step 4: finish" {
		t.Errorf("progress %s", got)
	}
	last := b.model.questions[3]
	if roles := rolesOf(last); roles != "user assistant user assistant tool assistant tool assistant tool tool tool" {
		t.Errorf("the conversation is %s", roles)
	}
	tools := results(last)
	for i, want := range []string{`file="handbook.pdf"`, "22 m/s", "live ashore", "Part 1", "22 m/s"} {
		if !strings.Contains(tools[i], want) {
			t.Errorf("result %d has no %q: %s", i+1, want, tools[i])
		}
	}
	if last.Force != "" || b.model.questions[0].MaxTokens != 4096 {
		t.Errorf("force %q, at most %d tokens", last.Force, last.MaxTokens)
	}
	b.expectRow(r.RunID, "ann", `"search"`)
}

func rolesOf(q llm.Question) string {
	var roles []string
	for _, t := range q.Turns {
		roles = append(roles, string(t.Role))
	}
	return strings.Join(roles, " ")
}

// expectRow checks the row of a run: who asked, the cost, and that its steps have no text of documents.
func (b *bench) expectRow(id, asker, step string) {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), b.URL)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var got struct {
		asker, set, steps, model, prompt, answer string
		tokens                                   int
	}
	if err := conn.QueryRow(b.Context(),
		`select requested_by, document_set, steps::text, model, prompt, answer, prompt_tokens + completion_tokens
		from agent_runs where id = $1`, id).Scan(&got.asker, &got.set, &got.steps, &got.model, &got.prompt, &got.answer, &got.tokens); err != nil {
		b.Fatal(err)
	}
	if got.asker != asker || got.set != "harbour" || got.model != "scripted-1" || got.tokens != 440 ||
		got.prompt == "" || got.answer == "" ||
		!strings.Contains(got.steps, step) || strings.Contains(got.steps, "pinned") {
		b.Errorf("%+v", got)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	h := agent.New(agent.Deps{Chat: &model{}})
	for name, c := range map[string]struct{ payload, want string }{
		"nothing":     {`{}`, "payload.prompt"},
		"blank":       {`{"prompt":" \n"}`, "payload.prompt"},
		"long":        {fmt.Sprintf(`{"prompt":%q}`, strings.Repeat("x", 70000)), "65536 are allowed"},
		"number":      {`{"prompt":7}`, "prompt and document_set are strings"},
		"set":         {`{"prompt":"x","document_set":" a"}`, "white space"},
		"steps":       {`{"prompt":"x","max_steps":0}`, "1 to 50"},
		"more steps":  {`{"prompt":"x","max_steps":51}`, "1 to 50"},
		"half a step": {`{"prompt":"x","max_steps":1.5}`, "max_steps is a whole number"},
		"role": {
			`{"prompt":"x","history":[{"role":"user","content":"a"},{"role":"system","content":"a"}]}`,
			`payload.history[1].role is "system"`,
		},
		"empty message": {`{"prompt":"x","history":[{"role":"user","content":""}]}`, "payload.history[0].content"},
		"long history": {fmt.Sprintf(`{"prompt":"x","history":[{"role":"user","content":%q}]}`,
			strings.Repeat("x", 300000)), "leave out the oldest"},
		"schema":    {`{"prompt":"x","response_schema":[1]}`, "is not an object"},
		"no schema": {`{"prompt":"x","response_schema":{"type":"thing"}}`, "is not a JSON Schema"},
		"patterns": {
			`{"prompt":"x","response_schema":{"pattern":"(?:` + strings.Repeat("x", 3000) + `){1000}"}}`, "smaller repetitions in patterns",
		},
		"foreign schema": {`{"prompt":"x","response_schema":{"$ref":"file:///etc/passwd"}}`, "outside of the schema"},
		"large schema": {
			fmt.Sprintf(`{"prompt":"x","response_schema":{"title":%q}}`, strings.Repeat("x", 40000)),
			"32768 are allowed",
		},
		"deep schema": {`{"prompt":"x","response_schema":` + strings.Repeat(`{"items":`, 40) + "{}" +
			strings.Repeat("}", 40) + `}`, "levels deep"},
	} {
		err := h.Check(task.Task{Payload: json.RawMessage(c.payload)})
		if failure := taskerr.Classify(err); err == nil || failure.Class != taskerr.ValidationError ||
			!strings.Contains(failure.Message, c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for _, good := range []string{
		`{"prompt":"x"}`, `{"prompt":"x","max_steps":50,"history":null,"response_schema":null,"document_set":""}`,
		`{"prompt":"x","Prompt":7}`,
		`{"prompt":"x","response_schema":{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"integer"}}}}`,
	} {
		if err := h.Check(task.Task{Payload: json.RawMessage(good)}); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
}

// A model that misuses a tool learns what is wrong and how to correct it.
func TestMistakes(t *testing.T) {
	t.Parallel()
	var chunks []string
	answers := []struct {
		a    llm.Answer
		want string
	}{
		{call("delete_everything", object{}), "there is no tool"},
		{call("search", `{"query": "x"`), "the arguments are not right"},
		{call("search", object{"query": "x", "document_set": "secret"}), `unknown field "document_set"`},
		{call("search", object{"query": 5}), "query can't be a number"},
		{call("search", object{"query": " "}), "query is empty"},
		{call("search", object{"query": "x", "k": 99}), "it is 1 to 20"},
		{call("search", object{"query": "x", "from": "2024-03-01", "to": "2024-02-01"}), "from is later than to"},
		{call("grep", object{"document": "a.pdf", "pattern": "("}), "RE2"},
		{call("grep", object{"document": "a.pdf", "pattern": `(a+)+\1`}), "RE2"},
		{call("grep", object{"document": "none.pdf", "pattern": "a"}), "there is no document"},
		{call("outline", object{"document": ""}), "document is empty"},
		{call("read_chunks", object{"ids": []string{}}), "1 to 20"},
		{
			call("read_chunks", object{"ids": []string{"x", "00000000-0000-4000-8000-000000000000"}}),
			"there is no such chunk",
		},
		{call("list_documents", object{"page": 1000}), "it is 1 to 20"},
	}
	b := newBench(t, func(n int, _ llm.Question) llm.Answer {
		if n <= len(answers) {
			return answers[n-1].a
		}
		return finish("Nothing.")
	})
	chunks = b.document("harbour", "a.pdf", wind)
	r := b.ask(`{"prompt":"x","document_set":"harbour","max_steps":30}`)
	if r.Text != "Nothing." || !slices.Contains(r.Warnings, "the answer cites nothing") {
		t.Errorf("%+v of %v", r, chunks)
	}
	for i, got := range results(b.model.questions[len(b.model.questions)-1]) {
		if !strings.Contains(got, answers[i].want) {
			t.Errorf("%+v: %s, want %q", answers[i].a.Calls[0], got, answers[i].want)
		}
	}
}

// The limits of a run: steps, tokens, calls of one answer, and repeated calls.
func TestLimits(t *testing.T) {
	t.Parallel()
	bed := newBench(t, nil)
	bed.document("harbour", "a.pdf", "The harbour is large.")
	search := func(n int) llm.Answer { return call("search", object{"query": fmt.Sprint("harbour ", n)}) }
	forced := func(n int, q llm.Question, a llm.Answer) llm.Answer {
		if q.Force == "finish" {
			return finish("That is all.")
		}
		return a
	}
	for name, c := range map[string]struct {
		script func(n int, q llm.Question) llm.Answer
		extra  string
		most   int
		ended  string
		steps  int
	}{
		"steps": {
			func(n int, q llm.Question) llm.Answer { return forced(n, q, search(n)) }, `,"max_steps":4`, 0,
			"max_steps", 4,
		},
		"one step": {
			func(n int, q llm.Question) llm.Answer { return forced(n, q, search(n)) }, `,"max_steps":1`, 0,
			"max_steps", 1,
		},
		"tokens": {
			func(n int, q llm.Question) llm.Answer { return forced(n, q, search(n)) }, ``, 11500,
			"max_tokens", 0,
		},
		"repeating": {func(n int, q llm.Question) llm.Answer { return forced(n, q, search(7)) }, ``, 0, "repeating", 5},
	} {
		t.Run(name, func(t *testing.T) {
			b := bed.with(t, c.script)
			b.deps.MaxTokens = c.most
			r := b.ask(`{"prompt":"What?","document_set":"harbour"` + c.extra + `}`)
			if r.Text != "That is all." || r.Ended != c.ended || c.steps > 0 && r.Steps != c.steps {
				t.Errorf("%+v", r)
			}
			last := b.model.questions[len(b.model.questions)-1]
			if last.Force != "finish" {
				t.Error("finish was not forced")
			}
			if name == "repeating" {
				if got := results(last); !strings.Contains(got[0], "The harbour is large.") ||
					!strings.Contains(got[1], "you made this very call in answer 1") {
					t.Errorf("results %q", got)
				}
			}
		})
	}
	b := bed.with(t, func(n int, _ llm.Question) llm.Answer {
		if n > 1 {
			return finish("Done.")
		}
		a := llm.Answer{}
		for i := range 12 {
			a.Calls = append(a.Calls, toolCall("search", object{"query": fmt.Sprint("q", i)}))
		}
		return a
	})
	if r := b.ask(`{"prompt":"What?","document_set":"empty"}`); r.Text != "Done." {
		t.Errorf("%+v", r)
	}
	if got := results(b.model.questions[1]); len(got) != 12 || !strings.Contains(got[7], "nothing was found") ||
		!strings.Contains(got[8], "not done: at most 8") {
		t.Errorf("results %q", got)
	}
}

// A task fails if its first question exceeds the tokens that it may use.
func TestTokensSpent(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(int, llm.Question) llm.Answer { return finish("Yes.") })
	b.deps.MaxTokens = 500
	_, err := b.try(agent.New(b.deps), `{"prompt":"x"}`, &handlertest.Progress{})
	if failure := taskerr.Classify(err); failure.Class != taskerr.QuotaExceeded ||
		failure.Code != "AGENT_TOKENS_SPENT" || !strings.Contains(failure.Message, "MAX_TASK_TOKENS") {
		t.Errorf("%v", err)
	}
	if len(b.model.questions) != 0 {
		t.Error("the model was asked")
	}
}
