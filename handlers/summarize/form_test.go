package summarize_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/llmtest"
	"github.com/seed-7227ef26/async-worker/internal/llm/openai"
)

// A summary without a short first sentence is cut after a word, in scripts without spaces after a character.
func TestCutWithinASentence(t *testing.T) {
	t.Parallel()
	for summary, want := range map[string]string{
		strings.Repeat("word ", 30):                  strings.TrimSpace(strings.Repeat("word ", 10)) + "…",
		"港の潮は一日に二度満ちて水先人はそれを待つ":                      "港の潮は一日に二度満…",
		"น้ำขึ้นวันละสองครั้งที่ท่าเรือนี้":          "น้ำขึ้นวันละสอ…",
		"概要 港の水門の潮位は7時に満ちる":                          "概要 港の水門の潮位は…",
		"one/two/three/4/5/6/7/8/9/ten/eleven":       "one/two/three/4/5/6/7/8/9/ten/…",
		"a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 (a11) a12 港": "a1 a2 a3 a4 a5 a6 a7 a8 a9 a10…",
	} {
		b := newBench(t)
		b.Put("tides.md", "The tide rises.")
		b.model.reply = say(reply{summary, []keyPoint{{"It rises.", []int{1}}}}.answer())
		if r := b.summarize(`{"filename":"tides.md","max_words":10}`); r.Summary != want || !r.Cut || r.Words != 10 {
			t.Errorf("%q: %q, %d words", summary, r.Summary, r.Words)
		}
	}
}

// An answer that can be used is used when there is no room, or too few tokens, for a better one.
func TestNoRoomForABetterAnswer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ tokens, calls int }{"context": {0, 2}, "tokens": {1100, 1}} {
		b := newBench(t, func(d *summarize.Deps) { d.MaxTokens = tt.tokens })
		b.Put("tides.md", "The tide rises.")
		b.model.reply = func(q llm.Question) (llm.Answer, error) {
			if len(q.Turns) > 0 {
				return llm.Answer{}, tooLong(0)
			}
			return reply{strings.Repeat("It rises. ", 9), []keyPoint{{"It rises.", []int{1}}}}.answer(), nil
		}
		r := b.summarize(`{"filename":"tides.md","max_words":10}`)
		if n := b.model.calls(); n != tt.calls || r.Words != 10 || !r.Cut || r.PromptTokens != 100 {
			t.Errorf("%s: %d calls, %+v", name, n, r)
		}
	}
}

// A reasoning model that uses all tokens before its answer gets more of them.
func TestReasoningUsesUpTheAnswer(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{
		Reasoning: true, Thinking: 2000, Reply: func(llmtest.ChatRequest) llmtest.Reply {
			return llmtest.Reply{Text: reply{"The tide rises.", []keyPoint{{"It rises.", []int{1}}}}.answer().Text}
		},
	})
	chat, err := openai.NewChat(openai.Config{BaseURL: s.URL(), APIKey: llmtest.Key, Model: "gpt-5-mini", HTTPClient: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(d *summarize.Deps) { d.Chat = chat })
	b.Put("tides.md", "The tide rises.")
	r := b.summarize(`{"filename":"tides.md","max_words":100}`)
	asked := s.Received()
	if first, last := asked[0].Chat, asked[len(asked)-1].Chat; r.Summary != "The tide rises." || first.MaxTokens >= 2000 ||
		last.MaxTokens != 3*first.MaxTokens {
		t.Errorf("%q after an answer of %d tokens and one of %d", r.Summary, first.MaxTokens, last.MaxTokens)
	}
}
