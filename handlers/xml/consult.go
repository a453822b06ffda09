package xml

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// consult asks the model, gives it one chance to correct its answer, and keeps it.
func (w *work) consult(ctx context.Context, q llm.Question, key string) (reading, error) {
	w.memory.Note(noteTokens).Load(&w.paid)
	if err := w.affordable(q); err != nil {
		return reading{}, err
	}
	spent := store.Partial{Key: key, Filename: w.payload.Filename}
	if w.payload.place.Address == nil { // else without the query, as the store writes it
		spent.Blob = w.payload.blob
	}
	given, err := w.put(ctx, q, &spent)
	if err != nil {
		return reading{}, err
	}
	said, problem := understand(given)
	if problem != "" {
		q = w.correction(q, given, problem)
		if err := w.affordable(q); err != nil {
			return reading{}, err
		}
		if given, err = w.put(ctx, q, &spent); err != nil {
			return reading{}, err
		}
		said, problem = understand(given)
	}
	if problem != "" {
		return reading{}, &taskerr.Error{
			Class: taskerr.DependencyUnavailable, Code: "XML_BAD_ANSWER",
			Message: fmt.Sprintf("the model %q gave two unusable checks: %s", w.deps.Chat.Model(), problem),
			Hint:    "choose another model in OPENAI_CHAT_MODEL, then replay the task",
		}
	}
	w.keepReading(ctx, said, spent)
	return said, nil
}

// noteTokens is the note with the tokens of the model that the task has paid for, for the next attempt.
const noteTokens = "check_tokens"

// put puts a question to the model.
func (w *work) put(ctx context.Context, q llm.Question, spent *store.Partial) (llm.Answer, error) {
	given, err := w.deps.Chat.Ask(ctx, q)
	if _, long := llm.IsTooLong(err); long {
		return given, tooLong("the model's service says that it is longer than the model's context")
	}
	if err != nil {
		return given, fmt.Errorf("ask the model: %w", err)
	}
	w.uses(taskerr.Chat)
	spent.PromptTokens += given.PromptTokens
	spent.CompletionTokens += given.CompletionTokens
	w.paid += given.PromptTokens + given.CompletionTokens
	w.memory.Note(noteTokens).Save(w.paid)
	return given, nil
}

// correction returns the question after a bad answer. Where there is room, it has the bad answer, and the next may be twice
// as long: a model's reasoning counts as part of its answer.
func (w *work) correction(q llm.Question, given llm.Answer, problem string) llm.Question {
	least, most := q.MaxTokens, 2*q.MaxTokens
	q.Turns = []llm.Turn{{Role: llm.User, Text: q.Text}}
	q.Text = "Your answer can't be used: " + problem + ". Give the whole JSON object again."
	room := w.room() - w.tokens(q)
	if bad := w.deps.Counter.Count(given.Text); strings.TrimSpace(given.Text) != "" && bad+most <= room {
		q.Turns = append(q.Turns, llm.Turn{Role: llm.Assistant, Text: given.Text})
		room -= bad
	}
	q.MaxTokens = min(most, max(room, least))
	return q
}

// room returns how many tokens the next question and its answer may have: those of the model's context, and those that
// the task has left.
func (w *work) room() int {
	room := w.deps.Window - w.deps.Window/50 // the counts of tokens are approximate
	if most := w.deps.MaxTokens; most > 0 {
		room = min(room, most-w.paid)
	}
	return room
}

// affordable refuses a question by which the task may take more tokens than it has, those of earlier attempts included.
func (w *work) affordable(q llm.Question) error {
	cost := w.paid + w.tokens(q) + q.MaxTokens
	if most := w.deps.MaxTokens; most > 0 && cost > most {
		return tooLong("its check may take %d tokens, more than MAX_TASK_TOKENS, which is %d", cost, most)
	}
	return nil
}

// tokens counts a question.
func (w *work) tokens(q llm.Question) int {
	n := w.deps.Counter.Count(q.System + q.Text)
	for _, t := range q.Turns {
		n += w.deps.Counter.Count(t.Text)
	}
	return n
}

// checkKeepTime is how long the store may take to keep an answer, which is paid for.
const checkKeepTime = 10 * time.Second

func (w *work) keepReading(ctx context.Context, said reading, spent store.Partial) {
	var err error
	if spent.Answer, err = json.Marshal(said); err != nil || !spent.Fits() {
		return // the next attempt asks again
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkKeepTime)
	defer cancel()
	if err := w.deps.Store.KeepPartials(ctx, w.call.Task.ID, []store.Partial{spent}); err != nil {
		w.deps.Log.Warn("can't keep a model's check; a retry asks it again", "job_id", w.call.Task.ID, "error", err)
	}
}
