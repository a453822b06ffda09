package summarize

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/llm/prompt"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// answer is the JSON that the model must return.
type answer struct {
	Summary   string `json:"summary"`
	KeyPoints []struct {
		Text    string `json:"text"`
		Sources []int  `json:"sources"`
	} `json:"key_points"`
}

// ask asks one question, gives the model one chance to correct its answer, and keeps the answer. A usable one is paid
// for, and is kept also if the correction fails; the result says what it doesn't meet.
func (w *work) ask(ctx context.Context, n *node, root bool) (notes, error) {
	q := w.question(n)
	if w.longAnswers.Load() {
		q.MaxTokens *= longAnswer
	}
	spent := store.Partial{Key: n.key}
	given, err := w.once(ctx, q, &spent)
	if err != nil {
		return notes{}, err
	}
	if given.End == llm.Filtered || given.End == llm.Refused {
		return w.withheld(ctx, n, given.End, root, spent)
	}
	made, problem := w.take(n, given)
	if problem.any() {
		second, err := w.correct(ctx, n, q, given, problem, &spent)
		if err != nil && (made == nil || ctx.Err() != nil) {
			return notes{}, err
		}
		made = second.over(made, problem)
	}
	if made == nil {
		return notes{}, &taskerr.Error{
			Class: taskerr.DependencyUnavailable, Code: "SUMMARIZE_BAD_ANSWER",
			Message: fmt.Sprintf("the model %q gave two unusable answers: %s",
				w.deps.Chat.Model(), problem.unusable),
			Hint: "choose another model in OPENAI_CHAT_MODEL, then replay the task",
		}
	}
	return w.kept(ctx, n, *made, spent)
}

// kept keeps the answer of a node.
func (w *work) kept(ctx context.Context, n *node, made notes, spent store.Partial) (notes, error) {
	for _, part := range n.parts {
		made.Omitted = append(made.Omitted, part.notes.Omitted...)
	}
	var err error
	if spent.Answer, err = json.Marshal(made); err != nil {
		return made, fmt.Errorf("write down an answer: %w", err)
	}
	if spent.Fits() { // else the next attempt asks again
		w.ledger.answered(spent)
		w.shelve(ctx, spent)
	}
	return made, nil
}

// withheld handles a question that the service or the model refuses. A section is left out, and the summary says so. A
// document in one call is tried again by sections.
func (w *work) withheld(ctx context.Context, n *node, end llm.End, root bool, spent store.Partial) (notes, error) {
	reason := reasonFiltered
	if end == llm.Refused {
		reason = reasonRefused
	}
	switch {
	case !root:
		passages := w.doc.passages[n.first:n.end]
		return w.kept(ctx, n, notes{Omitted: []run{{passages[0].hash, passages[len(passages)-1].hash, reason}}}, spent)
	case len(n.parts) == 0 && n.end-n.first > 1 && w.doc.tokens > 2*leastSection:
		return notes{}, errNotWhole
	}
	return notes{}, noSummary(reason)
}

// noSummary returns the error of a document of which all was refused.
func noSummary(reason string) error {
	code := "SUMMARIZE_FILTERED"
	if reason == reasonRefused {
		code = "SUMMARIZE_REFUSED"
	}
	return &taskerr.Error{
		Class: taskerr.ValidationError, Code: code, Message: "there is no summary of the document: " + reason,
		Hint: "leave out of the document what may have been refused, or use a model or a content filter that allows more",
	}
}

// once makes one call, if the task has enough tokens left.
func (w *work) once(ctx context.Context, q llm.Question, spent *store.Partial) (llm.Answer, error) {
	asks := w.tokens(q)
	q.MaxTokens = w.room.answer(q.MaxTokens, asks)
	size := asks + q.MaxTokens
	if !w.ledger.reserve(size, w.deps.MaxTokens) {
		return llm.Answer{}, tooExpensive("one more call of the model would take it over %d tokens", w.deps.MaxTokens)
	}
	w.asked.Store(true)
	given, err := w.deps.Chat.Ask(ctx, q)
	w.ledger.settle(size, given)
	if err != nil {
		if _, long := llm.IsTooLong(err); long {
			w.refused.note(asks, q.MaxTokens)
		}
		return given, fmt.Errorf("ask the model: %w", err)
	}
	spent.PromptTokens += given.PromptTokens
	spent.CompletionTokens += given.CompletionTokens
	return given, nil
}

// problem is what is wrong with an answer.
type problem struct {
	unusable string   // why it can't be used; empty: it can
	unmet    []string // requests that it doesn't meet
	cutOff   bool
}

func (p problem) any() bool { return p.unusable != "" || len(p.unmet) > 0 }

// take converts an answer to notes; nil if it is unusable.
func (w *work) take(n *node, given llm.Answer) (*notes, problem) {
	var a answer
	if given.End == llm.CutOff {
		return nil, problem{unusable: "it was longer than it may be, and cut off", cutOff: true}
	}
	if strings.TrimSpace(given.Text) == "" {
		return nil, problem{unusable: "it was empty"}
	}
	if err := json.Unmarshal(prompt.Object(given.Text), &a); err != nil {
		return nil, problem{unusable: "it was not the JSON object that was asked for"}
	}
	made := &notes{Summary: strings.TrimSpace(withoutReferences(a.Summary))}
	if made.Summary == "" {
		return nil, problem{unusable: `its "summary" was empty`}
	}
	cited := w.citable(n)
	for _, p := range a.KeyPoints {
		to := point{Text: strings.TrimSpace(withoutReferences(p.Text))}
		for _, source := range p.Sources {
			if source >= 1 && source <= len(cited) {
				to.Passages = append(to.Passages, cited[source-1]...)
			}
		}
		slices.Sort(to.Passages)
		if to.Passages = slices.Compact(to.Passages); to.Text != "" && len(to.Passages) > 0 {
			made.Points = append(made.Points, to)
		}
	}
	if len(made.Points) == 0 {
		return nil, problem{unusable: fmt.Sprintf(`no key point had "sources" between 1 and %d`, len(cited))}
	}
	return made, problem{unmet: w.unmet(n, made)}
}

// citable returns the hashes of the passages behind each number in a node's question.
func (w *work) citable(n *node) [][]string {
	var all [][]string
	if len(n.parts) == 0 {
		for _, p := range w.doc.passages[n.first:n.end] {
			all = append(all, []string{p.hash})
		}
	}
	for _, part := range n.parts {
		for _, p := range part.notes.Points {
			all = append(all, p.Passages)
		}
	}
	return all
}

// secondAnswer is the second answer.
type secondAnswer struct {
	notes   *notes
	problem problem
}

// over chooses between two answers: the second, unless it is unusable or worse.
func (m secondAnswer) over(first *notes, was problem) *notes {
	if m.notes == nil || first != nil && len(m.problem.unmet) > len(was.unmet) {
		return first
	}
	return m.notes
}

// correct asks again and says what was wrong.
func (w *work) correct(
	ctx context.Context, n *node, q llm.Question, given llm.Answer, wrong problem, spent *store.Partial,
) (secondAnswer, error) {
	q.Turns = []llm.Turn{{Role: llm.User, Text: q.Text}}
	reasons := wrong.unmet
	if wrong.unusable != "" {
		reasons = []string{wrong.unusable}
	}
	q.Text = "Your answer can't be used as it is: " + strings.Join(reasons, "; ") +
		". Give the whole JSON object again, with that put right."
	if wrong.cutOff {
		w.longAnswers.Store(true)
		q.MaxTokens *= longAnswer
		q.Text += " Be shorter."
	}
	if strings.TrimSpace(given.Text) != "" && w.room.has(w.tokens(q)+w.deps.Counter.Count(given.Text)) {
		q.Turns = append(q.Turns, llm.Turn{Role: llm.Assistant, Text: given.Text})
	}
	again, err := w.once(ctx, q, spent)
	if err != nil {
		return secondAnswer{}, err
	}
	if again.End == llm.Filtered || again.End == llm.Refused {
		return secondAnswer{}, nil
	}
	made, problem := w.take(n, again)
	return secondAnswer{made, problem}, nil
}

// longAnswer is how much longer answers may be after one was cut off: a model's reasoning counts as part of its answer.
const longAnswer = 3

// references matches numbers of sources, which don't belong in a text.
var references = regexp.MustCompile(`\s?\[\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\]`)

func withoutReferences(text string) string { return references.ReplaceAllString(text, "") }
