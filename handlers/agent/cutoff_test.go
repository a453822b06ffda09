package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// An answer that reasoning filled is followed by one that may be longer, as far as the context and the tokens of the task
// reach; the next ones are as long as usual. The conversation is not shortened for it.
func TestCutOff(t *testing.T) {
	t.Parallel()
	bed := newBench(t, nil)
	cut := llm.Answer{End: llm.CutOff}
	search := func(end llm.End) llm.Answer {
		a := call("search", object{"query": "x"})
		a.End = end
		return a
	}
	text := llm.Answer{Text: "Yes."}
	for name, c := range map[string]struct {
		kind         string
		window, most int
		prompt       int // words
		answers      []llm.Answer
		longest      []int // answers, to the nearest thousand below
	}{
		"ai":                       {"ai", 128_000, 0, 1, []llm.Answer{cut, text}, []int{4000, 32000}},
		"ai, few tokens":           {"ai", 128_000, 10_000, 1, []llm.Answer{cut, text}, []int{4000, 9000}},
		"ai, fewer tokens":         {"ai", 128_000, 3_000, 1, []llm.Answer{cut, text}, []int{2000, 2000}},
		"ai, a long prompt":        {"ai", 40_000, 0, 32_000, []llm.Answer{cut, text}, []int{4000, 7000}},
		"ai, the longest prompt":   {"ai", 38_000, 0, 32_600, []llm.Answer{cut, text}, []int{4000, 4000}},
		"ai, a small context":      {"ai", 8_000, 0, 1, []llm.Answer{cut, text}, []int{2000, 2000}},
		"agent":                    {"agent", 128_000, 0, 1, []llm.Answer{cut, finish("Yes.")}, []int{4000, 32000}},
		"agent, a call":            {"agent", 128_000, 0, 1, []llm.Answer{search(llm.CutOff), search(""), finish("Yes.")}, []int{4000, 32000, 4000}},
		"agent, before the finish": {"agent", 128_000, 20_000, 1, []llm.Answer{search(llm.CutOff), finish("Yes.")}, []int{4000, 13000}},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			b := bed.with(t, func(n int, _ llm.Question) llm.Answer { return c.answers[n-1] })
			b.deps.Window, b.deps.MaxTokens = c.window, c.most
			h := agent.New(b.deps)
			if c.kind == "ai" {
				h = agent.NewAI(b.deps)
			}
			r, err := b.try(h, fmt.Sprintf(`{"prompt":%q}`, strings.Repeat("a ", c.prompt)), &handlertest.Progress{})
			if err != nil || r.Text != "Yes." {
				t.Fatalf("%+v, %v", r, err)
			}
			var longest []int
			for _, q := range b.model.questions {
				longest = append(longest, q.MaxTokens/1000*1000)
				tokens := b.deps.Counter.Count(q.System) + q.MaxTokens
				for _, turn := range q.Turns {
					tokens += b.deps.Counter.Count(turn.Text)
				}
				if tokens > c.window || c.most > 0 && tokens > c.most {
					t.Errorf("a question has %d tokens with its answer", tokens)
				}
			}
			if !slices.Equal(longest, c.longest) {
				t.Errorf("answers of at most %v tokens, want %v", longest, c.longest)
			}
		})
	}
}
