package xml_test

import (
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/handlers/handlertest"
	"github.com/seed-7227ef26/async-worker/handlers/xml"
	"github.com/seed-7227ef26/async-worker/internal/gateway/gatewaytest"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/token"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// tokensOf counts a question without its answer.
func tokensOf(q llm.Question) int {
	counter := token.New()
	n := counter.Count(q.System + q.Text)
	for _, t := range q.Turns {
		n += counter.Count(t.Text)
	}
	return n
}

// TestCorrection: the question after a bad answer has that answer, and room for one of twice its length, as far as the
// context and the task's tokens reach. Where there is not even room for an answer of the first length, the invoice is too
// long, and nothing more is paid for.
func TestCorrection(t *testing.T) {
	t.Parallel()
	talk := strings.TrimSpace(strings.Repeat("all is well ", 300))
	b := newBench(t, gatewaytest.Options{})
	b.do(payloadOf(inChecked))
	first := b.model.asked[0]
	asks, longest := tokensOf(first), first.MaxTokens
	size := asks + longest
	for name, c := range map[string]struct {
		bad          string
		end          llm.End
		window, most int
		sent         bool // the bad answer
		longest      int  // the second answer, in percent of the first
		code         string
	}{
		"room":                    {bad: talk, sent: true, longest: 200},
		"an empty answer":         {end: llm.CutOff, longest: 200},
		"a small context":         {bad: talk, window: size*105/100 + longest, longest: 200},
		"a full context":          {bad: talk, window: size * 118 / 100, longest: 120},
		"some tokens are left":    {bad: talk, most: 2*asks + 1020 + longest*3/2, longest: 150},
		"too few tokens are left": {bad: talk, most: 2*asks + 1000 + longest*9/10, code: "XML_TOO_LONG"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, gatewaytest.Options{}, func(d *xml.Deps) {
				if d.MaxTokens = c.most; c.window > 0 {
					d.Window = c.window
				}
			})
			b.model.reply = func(q llm.Question) (llm.Answer, error) {
				if len(q.Turns) > 0 {
					q.Text = q.Turns[0].Text
					return b.model.honest(q)
				}
				return llm.Answer{Text: c.bad, End: c.end, PromptTokens: tokensOf(q), CompletionTokens: 1000}, nil
			}
			if c.code != "" {
				if e := b.fails(payloadOf(inChecked)); e.Code != c.code || e.Class != taskerr.QuotaExceeded || len(b.model.asked) != 1 {
					t.Errorf("asked %d times, %v", len(b.model.asked), e)
				}
				return
			}
			if r := b.do(payloadOf(inChecked)); r.Review || len(b.model.asked) != 2 {
				t.Fatalf("asked %d times, %+v", len(b.model.asked), r)
			}
			q := b.model.asked[1]
			if sent := len(q.Turns) == 2 && q.Turns[1].Text == c.bad; sent != c.sent || !c.sent && len(q.Turns) != 1 {
				t.Errorf("the turns %+v", q.Turns)
			}
			if got := q.MaxTokens * 100 / first.MaxTokens; got < c.longest-10 || got > c.longest+10 {
				t.Errorf("an answer of at most %d %% of the first", got)
			}
			if n := tokensOf(q) + q.MaxTokens; n > b.deps.Window || c.most > 0 && n+tokensOf(first)+1000 > c.most {
				t.Errorf("%d tokens with the answer", n)
			}
		})
	}
}

// TestTokensOfAllAttempts: an attempt has the tokens that the earlier ones left. A check that is kept needs none.
func TestTokensOfAllAttempts(t *testing.T) {
	t.Parallel()
	b := newBench(t, gatewaytest.Options{})
	bad := true
	b.model.reply = func(q llm.Question) (llm.Answer, error) {
		if !bad {
			return b.model.honest(q)
		}
		return llm.Answer{Text: "All is well.", End: llm.Stopped, PromptTokens: 11_000, CompletionTokens: 1000}, nil
	}
	b.deps.MaxTokens = 25_000
	c := b.Begin(payloadOf(inChecked), task.Hints{})
	for attempt, want := range []struct {
		code  string
		asked int
	}{{"XML_BAD_ANSWER", 2}, {"XML_TOO_LONG", 2}} {
		_, err := xml.New(b.deps).Handle(t.Context(), c)
		if e := taskerr.Classify(err); e.Code != want.code || len(b.model.asked) != want.asked {
			t.Fatalf("attempt %d: asked %d times, %v", attempt+1, len(b.model.asked), err)
		}
		c.Checkpoint = c.Progress.(*handlertest.Progress).Pending
	}
	bad, b.deps.MaxTokens = false, 30_000
	b.finish(c)
	b.deps.MaxTokens = 1
	b.do(payloadOf(inChecked + `,"pretty":true`))
	b.calls(3, "three attempts and another task")
}

// TestTooLongForTheService: what the model's service finds too long, at first or with the bad answer, is too long.
func TestTooLongForTheService(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string]int{"at first": 0, "corrected": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, gatewaytest.Options{})
			b.model.reply = func(llm.Question) (llm.Answer, error) {
				if len(b.model.asked) <= answers {
					return llm.Answer{Text: "All is well.", End: llm.Stopped}, nil
				}
				return llm.Answer{}, &taskerr.Error{Class: taskerr.ValidationError, Message: "too long", Cause: &llm.TooLong{}}
			}
			c := b.Begin(payloadOf(inChecked), task.Hints{})
			_, err := xml.New(b.deps).Handle(t.Context(), c)
			if e := taskerr.Classify(err); e.Code != "XML_TOO_LONG" || e.Class != taskerr.QuotaExceeded ||
				!strings.Contains(e.Message, "direct") {
				t.Errorf("%v", err)
			}
		})
	}
}
