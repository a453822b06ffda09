package summarize_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/summarize"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// tooLong is the answer of a service to more than fits. told is what it says that fits; zero: nothing.
func tooLong(told int) error {
	return &taskerr.Error{Class: taskerr.ValidationError, Message: "too long", Cause: &llm.TooLong{Window: told}}
}

// within returns a model with a context of this many tokens, and the number of questions that were too long for it.
func within(
	window, told int, reply func(llm.Question) (llm.Answer, error),
) (ask func(llm.Question) (llm.Answer, error), refused *atomic.Int64) {
	counter, refused := token.New(), new(atomic.Int64)
	return func(q llm.Question) (llm.Answer, error) {
		size := counter.Count(q.System+q.Text) + q.MaxTokens
		for _, turn := range q.Turns {
			size += counter.Count(turn.Text)
		}
		if size > window {
			refused.Add(1)
			return llm.Answer{}, tooLong(told)
		}
		return reply(q)
	}, refused
}

// A long answer gets the room that the question leaves in the context: no question is too long because of it.
func TestLongAnswerInASmallContext(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sections int
		cutOff   bool
	}{
		"one call":          {sections: 1},
		"one full call":     {sections: 15},
		"a tree":            {sections: 60},
		"cut off":           {sections: 1, cutOff: true},
		"full and cut off":  {sections: 15, cutOff: true},
		"a tree is cut off": {sections: 60, cutOff: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(d *summarize.Deps) { d.Window = 8192 })
			b.Put("log.md", long(tt.sections))
			var refused *atomic.Int64
			b.model.reply, refused = within(8192, 0, func(q llm.Question) (llm.Answer, error) {
				if q.MaxTokens < 2048 && strings.Contains(q.System, "You summarize") {
					t.Errorf("the summary may have %d tokens", q.MaxTokens)
				}
				if tt.cutOff && len(q.Turns) == 0 {
					return llm.Answer{Text: strings.Repeat("word ", q.MaxTokens), End: llm.CutOff}, nil
				}
				if len(q.Turns) > 0 {
					q.Text = q.Turns[0].Text
				}
				return parrot(q)
			})
			r := b.summarize(`{"filename":"log.md","style":"detailed","max_words":2000}`)
			want := r.Parts
			if tt.cutOff {
				want *= 2
			}
			if n := b.model.calls(); refused.Load() != 0 || n != want || len(r.KeyPoints) == 0 {
				t.Errorf("%d of %d calls were too long, for %d parts", refused.Load(), n, r.Parts)
			}
		})
	}
}

// When the context is smaller than expected, a long answer becomes shorter before the document is divided.
func TestLongAnswerInAnUnknownContext(t *testing.T) {
	t.Parallel()
	for _, told := range []int{0, 8192} {
		b := newBench(t)
		b.Put("log.md", long(13))
		var refused *atomic.Int64
		b.model.reply, refused = within(8192, told, parrot)
		if r := b.summarize(`{"filename":"log.md","max_words":2000}`); r.Parts != 1 || refused.Load() > 2 {
			t.Errorf("told %d: %d parts, %d calls were too long", told, r.Parts, refused.Load())
		}
	}
}

// Answers are counted once, also when a second plan has them again.
func TestTokensAfterASecondPlan(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(d *summarize.Deps) { d.Window = 20_000 })
	b.Put("log.md", long(60))
	var refused atomic.Bool
	b.model.reply = func(q llm.Question) (llm.Answer, error) {
		if strings.Contains(q.System, "You get notes") && !refused.Swap(true) {
			return llm.Answer{}, tooLong(7000)
		}
		return parrot(q)
	}
	r := b.summarize(`{"filename":"log.md"}`)
	if answers := b.model.calls() - 1; !refused.Load() || r.PromptTokens != 100*answers || r.CompletionTokens != 10*answers {
		t.Errorf("%d answers of 100 and 10 tokens: %d and %d", answers, r.PromptTokens, r.CompletionTokens)
	}
}
