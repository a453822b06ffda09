package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/handlers/convert"
	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// sections is a document of that many headings, each of which has about so many words.
func sections(count, words int) string {
	var b strings.Builder
	for i := range count {
		fmt.Fprintf(&b, "## Basin %c\n\n", 'A'+i)
		for n := 0; n < words; n += 12 {
			b.WriteString("Ships berth here for as long as they like and pay nothing. ")
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

// reasoning answers only where there is room for its reasoning: else it is cut off before the first letter.
func reasoning(tokens int) func(llm.Question) (llm.Answer, error) {
	return func(q llm.Question) (llm.Answer, error) {
		if q.MaxTokens < tokens {
			return llm.Answer{End: llm.CutOff, PromptTokens: 100, CompletionTokens: q.MaxTokens}, nil
		}
		for _, turn := range q.Turns {
			q.Text = turn.Text
		}
		return parrot(q)
	}
}

// TestCutOff: after an answer that was cut off the next ones may be longer, as far as the context and the task's tokens
// reach. What was cut off is not sent back.
func TestCutOff(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	for name, c := range map[string]struct {
		window, most int
		longest      []int // answers, in the order of the questions
		warning      string
	}{
		"room":           {128_000, 0, []int{3000, 9000}, ""},
		"a small window": {9000, 0, []int{3000, 5500}, ""},
		"few tokens":     {128_000, 11_500, []int{3000, 5500}, ""},
		"no tokens left": {128_000, 8_500, []int{3000}, "MAX_TASK_TOKENS"},
	} {
		t.Run(name, func(t *testing.T) {
			b := b.With(t)
			m := &writer{reply: reasoning(4000)}
			d := modelled(b, m)
			d.Window, d.MaxTokens = c.window, c.most
			file := strings.ReplaceAll(name, " ", "-") + ".md"
			b.Put(file, sections(1, 2400))
			r, _ := converted(b, d, `{"filename":"`+file+`"}`)
			if w := strings.Join(r.Warnings, " "); !strings.Contains(w, c.warning) || c.warning == "" && strings.Contains(w, "as they are") {
				t.Errorf("warnings %q", w)
			}
			var longest []int
			for _, q := range m.asked {
				longest = append(longest, q.MaxTokens/500*500)
				for _, turn := range q.Turns {
					if turn.Role == llm.Assistant {
						t.Errorf("%q was sent back", turn.Text)
					}
				}
			}
			if fmt.Sprint(longest) != fmt.Sprint(c.longest) {
				t.Errorf("answers of at most %v tokens, want %v", longest, c.longest)
			}
		})
	}
}

// TestCutOffIsRemembered: a question that begins after an answer was cut off has a long answer at once.
func TestCutOffIsRemembered(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	m := &writer{reply: reasoning(4000)}
	b.Put("report.md", sections(5, 2400)) // the fifth begins when one of the others has ended
	converted(b, modelled(b, m), `{"filename":"report.md"}`)
	if !slices.ContainsFunc(m.asked, func(q llm.Question) bool { return len(q.Turns) == 0 && q.MaxTokens == 9000 }) || len(m.asked) > 9 {
		t.Errorf("%d questions, and none began with a long answer", len(m.asked))
	}
}

// TestUnusableIsKept: an attempt that comes back pays for no answer again that was of no use, and still gives the reason.
func TestUnusableIsKept(t *testing.T) {
	t.Parallel()
	b := handlertest.New(t, task.Convert, 8)
	for name, c := range map[string]struct {
		answer  llm.Answer
		warning string
		asked   int
	}{
		"no JSON":  {llm.Answer{Text: "no JSON", End: llm.Stopped}, "two answers that can't be used", 2},
		"nothing":  {llm.Answer{End: llm.Stopped}, "two answers that can't be used", 2},
		"cut off":  {llm.Answer{Text: `{"slides":[`, End: llm.CutOff}, "two answers that can't be used", 2},
		"refused":  {llm.Answer{End: llm.Refused}, "refused", 1},
		"filtered": {llm.Answer{End: llm.Filtered}, "filtered", 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := b.With(t)
			m := &writer{reply: func(llm.Question) (llm.Answer, error) { return c.answer, nil }}
			file := strings.ReplaceAll(name, " ", "-") + ".md"
			b.Put(file, report)
			call := b.Begin(`{"filename":"`+file+`"}`, task.Hints{})
			if _, err := convert.New(modelled(b, m)).Handle(t.Context(), call); err != nil || len(m.asked) != c.asked {
				t.Fatalf("asked %d times, %v", len(m.asked), err)
			}
			for _, turn := range m.asked[len(m.asked)-1].Turns {
				if turn.Text == "" {
					t.Error("an empty turn was sent")
				}
			}
			out, err := convert.New(modelled(b, m)).Handle(t.Context(), handlers.Call{
				Task: call.Task, Holder: call.Holder, Attempt: 2, Checkpoint: call.Progress.(*handlertest.Progress).Pending,
				Progress: &handlertest.Progress{},
			})
			if err != nil || len(m.asked) != c.asked {
				t.Fatalf("the next attempt: asked %d times, %v", len(m.asked), err)
			}
			var r convert.Result
			b.Complete(call, out, &r)
			if w := strings.Join(r.Warnings, " "); !strings.Contains(w, c.warning) {
				t.Errorf("warnings %q", w)
			}
		})
	}
}
