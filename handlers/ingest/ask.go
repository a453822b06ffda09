package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/situate"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Why chunks have no context.
const (
	reasonUnusable = "the model gave no usable one"
	reasonRefused  = "the model refused, or the service's content filter"
	reasonSpent    = "the limit of CONTEXT_MAX_TOKENS was reached"
)

// longAnswer is how much longer an answer may be after one was cut off: a model's reasoning counts as part of its answer.
const longAnswer = 3

// keepTime is how long the store may take to keep an answer, which is paid for, even if the task must stop.
const keepTime = 10 * time.Second

// given is an answer as it is kept.
type given struct {
	Contexts []string `json:"contexts"` // in the order of the question; empty: none. Keys of chunks depend on more than it
	Reason   string   `json:"reason"`   // why some are missing; empty: none is
}

// of returns the contexts by the keys of the chunks of the question.
func (g given) of(r situate.Request) map[string]string {
	texts := map[string]string{}
	for i, key := range r.Chunks {
		if i < len(g.Contexts) && g.Contexts[i] != "" {
			texts[key] = g.Contexts[i]
		}
	}
	return texts
}

// answer returns the contexts that a question asks for, by the keys of their chunks; fresh: they were not known before.
// Chunks without one are counted. What a document can't do without is its text: a context that can't be had is no reason
// to fail. But a service that is down is, unless no attempt would follow: the task waits for it and loses nothing.
func (w *work) answer(ctx context.Context, r situate.Request) (texts map[string]string, fresh bool, err error) {
	l := &w.contexts.ledger
	a, known := l.known(r.Key)
	if !known {
		if why := l.stopped(); why != "" {
			l.missing(len(r.Chunks), why)
			return nil, false, nil
		}
		if a, fresh, err = w.askOnce(ctx, r); err != nil {
			reason, serious := w.excused(ctx, err)
			if serious != nil {
				return nil, false, serious
			}
			a.Reason = reason
		}
	}
	texts = a.of(r)
	l.missing(len(r.Chunks)-len(texts), a.Reason)
	return texts, fresh, nil
}

// askOnce asks a question, unless it was asked since it was planned: where a document repeats itself, windows are the
// same question. If it is being asked, the answer is awaited. fresh: it was asked here.
func (w *work) askOnce(ctx context.Context, r situate.Request) (a given, fresh bool, err error) {
	l := &w.contexts.ledger
	v, err, _ := l.asking.Do(r.Key, func() (any, error) {
		a, known := l.known(r.Key)
		if known {
			return a, nil
		}
		fresh = true
		a, err := w.ask(ctx, r)
		if err == nil {
			l.answer(r.Key, a)
		}
		return a, err
	})
	a, _ = v.(given)
	return a, fresh, err
}

// excused returns why a document goes on without the contexts of a question; serious: it doesn't.
func (w *work) excused(ctx context.Context, err error) (reason string, serious error) {
	failure, ok := errors.AsType[*taskerr.Error](err)
	switch {
	case ctx.Err() != nil, !ok, failure.Class == taskerr.InternalBug:
		return "", err
	case taskerr.Classes[failure.Class].Retryable && !w.call.Last:
		return "", err
	case failure.Class == taskerr.ValidationError: // of this question, e.g. longer than the model's context
		return failure.Message, nil
	}
	w.contexts.ledger.stop(failure.Message)
	return failure.Message, nil
}

// ask asks a question, a second time if the answer was cut off, and keeps the answer.
func (w *work) ask(ctx context.Context, r situate.Request) (given, error) {
	c, l := w.deps.Contexts, &w.contexts.ledger
	paid := store.Partial{Key: r.Key}
	var out given
	asked := false
	for q, size := r.Question, r.Tokens; ; {
		if !l.reserve(size, c.MaxTokens) {
			out.Reason = reasonSpent
			break
		}
		a, err := c.Chat.Ask(ctx, q)
		l.settle(size, a, err)
		if err != nil {
			return given{}, fmt.Errorf("ask the model for contexts: %w", err)
		}
		asked = true
		paid.PromptTokens += a.PromptTokens
		paid.CompletionTokens += a.CompletionTokens
		if a.End == llm.CutOff && q.MaxTokens == r.Question.MaxTokens {
			q.MaxTokens *= longAnswer
			size += q.MaxTokens - r.Question.MaxTokens
			continue
		}
		out = given{Contexts: r.Read(a), Reason: reasonUnusable}
		switch {
		case a.End == llm.Filtered, a.End == llm.Refused:
			out.Reason = reasonRefused
		case len(out.of(r)) == len(r.Chunks):
			out.Reason = ""
		}
		break
	}
	if asked {
		w.keepAnswer(ctx, paid, out)
	}
	return out, nil
}

// keepAnswer keeps an answer for the next attempt, also one that can't be used. Without it the answer would be paid for
// twice, which is no reason to fail.
func (w *work) keepAnswer(ctx context.Context, paid store.Partial, out given) {
	c := w.deps.Contexts
	raw, err := json.Marshal(out)
	if err == nil {
		paid.Answer = raw
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
		defer cancel()
		err = c.Answers.KeepPartials(ctx, w.call.Task.ID, []store.Partial{paid})
	}
	if err != nil {
		c.Log.Warn("can't keep what a model answered; another attempt asks again", "job_id", w.call.Task.ID, "error", err)
	}
}
