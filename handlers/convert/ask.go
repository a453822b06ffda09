package convert

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

const (
	// answerTokens is the longest answer. A bullet is about 60 tokens.
	answerTokens = 3000
	// longAnswer is how much longer answers may be after one was cut off: a model's reasoning counts as part of its answer.
	longAnswer = 3
)

// reasonUnusable is why a batch is not written after two answers.
const reasonUnusable = "the model gave two answers that can't be used"

// ask asks about a batch, once more if the answer can't be used, and keeps the outcome, also one that is of no use:
// another attempt would pay for it again. No slides: it is of no use.
func (o *outline) ask(ctx context.Context, batch []entry) ([]slide, error) {
	q := o.question(batch)
	sum := sha256.Sum256([]byte(o.deps.Chat.Model() + "\x00" + q.System + "\x00" + q.Text))
	key := hex.EncodeToString(sum[:])
	if slides, known := o.earlier(key); known {
		return slides, nil
	}
	reason, paid := "", false
	for range 2 {
		a, unasked, err := o.once(ctx, q)
		if err != nil {
			return nil, err
		}
		if reason = unasked; reason != "" {
			break
		}
		paid = true
		if reason = withheld(a.End); reason != "" {
			break
		}
		slides, problem := parse(a.Text)
		if a.End == llm.CutOff {
			problem = "it was longer than it may be, and cut off"
		}
		if problem == "" {
			o.keep(key, a.Text)
			return slides, nil
		}
		reason = reasonUnusable
		q = o.correction(q, a, problem)
	}
	o.leave(reason)
	if paid {
		o.keepUnusable(key, reason)
	}
	return nil, nil
}

// withheld is why a question has no answer; empty: it has one.
func withheld(end llm.End) string {
	switch end {
	case llm.Filtered:
		return "the model's service filtered them"
	case llm.Refused:
		return "the model refused to write of them"
	}
	return ""
}

// correction returns the question after an answer that can't be used. One that was cut off is not sent back: mostly all
// of it was reasoning, and the next may be longer.
func (o *outline) correction(q llm.Question, a llm.Answer, problem string) llm.Question {
	q.Turns = append(q.Turns, llm.Turn{Role: llm.User, Text: q.Text})
	if a.End == llm.CutOff {
		o.mu.Lock()
		o.longer = true
		o.mu.Unlock()
		q.MaxTokens *= longAnswer
	} else if strings.TrimSpace(a.Text) != "" {
		q.Turns = append(q.Turns, llm.Turn{Role: llm.Assistant, Text: a.Text})
	}
	q.Text = "Your answer can't be used: " + problem + ". Give the whole JSON object again, with that put right."
	return q
}

// answerTokens is the longest answer to a new question.
func (o *outline) answerTokens() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.longer {
		return answerTokens * longAnswer
	}
	return answerTokens
}

// once asks one question. unasked is why it can't be asked, and never can be.
func (o *outline) once(ctx context.Context, q llm.Question) (a llm.Answer, unasked string, err error) {
	asks := o.tokens(q)
	reserved, ok := o.reserve(asks, min(q.MaxTokens, o.room(asks)))
	if !ok {
		return a, "the task may use no more tokens (MAX_TASK_TOKENS)", nil
	}
	q.MaxTokens = reserved - asks
	a, err = o.deps.Chat.Ask(ctx, q)
	o.settle(reserved, a)
	if err != nil {
		if _, long := llm.IsTooLong(err); long {
			return a, "they are longer than the model's context", nil
		}
		return a, "", fmt.Errorf("ask the model for slides: %w", err)
	}
	return a, "", nil
}

// tokens counts a question.
func (o *outline) tokens(q llm.Question) int {
	n := o.deps.Counter.Count(q.System) + o.deps.Counter.Count(q.Text)
	for _, t := range q.Turns {
		n += o.deps.Counter.Count(t.Text)
	}
	return n
}

// room is what a question leaves of the model's context for its answer. A quarter of the context is always the answer's,
// and with less it is the question that is too long.
func (o *outline) room(asks int) int {
	window := o.deps.Window
	if window <= 0 {
		return math.MaxInt
	}
	return max(window-asks-window/50, window/4) // the counts of tokens are approximate
}

// reserve takes the tokens of a question and its answer from those that the task may use. An answer that may be longer
// than usual gets what is left, if that is enough for a usual one.
func (o *outline) reserve(asks, answer int) (tokens int, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if most := o.deps.MaxTokens; most > 0 {
		left := most - o.spent - o.reserved - asks
		if left < min(answer, answerTokens) {
			return 0, false
		}
		answer = min(answer, left)
	}
	o.reserved += asks + answer
	return asks + answer, true
}

// settle gives back the tokens that were reserved for a question, counts those of its answer, and keeps their sum for the
// next attempt.
func (o *outline) settle(reserved int, a llm.Answer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reserved -= reserved
	if paid := a.PromptTokens + a.CompletionTokens; paid > 0 {
		o.spent += paid
		o.notes.Note(noteSpent).Save(o.spent)
	}
}

// earlier returns the slides of an earlier attempt's answer. known: the question was answered, maybe without use.
func (o *outline) earlier(key string) (slides []slide, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if reason, known := o.unusable[key]; known {
		o.plain[reason]++
		return nil, true
	}
	text, known := o.kept[key]
	if known {
		slides, _ = parse(text)
	}
	return slides, known
}

// leave counts a batch that is not written.
func (o *outline) leave(reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.plain[reason]++
}

// keep keeps an answer for the next attempt.
func (o *outline) keep(key, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept[key] = text
	o.notes.Note(noteOutline).Save(o.kept)
}

// keepUnusable keeps, for the next attempt, why the answers to a question are of no use.
func (o *outline) keepUnusable(key, reason string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unusable[key] = reason
	o.notes.Note(noteUnusable).Save(o.unusable)
}
