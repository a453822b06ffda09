package summarize

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// errNotWhole reports that a document can't be summarized in one call, but maybe by sections.
var errNotWhole = errors.New("the document can't be summarized as a whole")

// compose gets the summary from the model, in as many calls as necessary.
func (w *work) compose(ctx context.Context) (*node, error) {
	w.room = room{window: w.deps.Window}
	whole := true
	for {
		p := w.newPlan(w.room.window, whole)
		err := w.ready(ctx, p)
		if err == nil {
			err = w.run(ctx, p)
		}
		fits, long := llm.IsTooLong(err)
		switch {
		case err == nil:
			return p.root, nil
		case errors.Is(err, errNotWhole):
			whole = false
		case long && w.room.lessen(fits, w.refused.shortest()):
			// Finished nodes keep their answers: they have the same keys in the next plan.
		default:
			return nil, err
		}
	}
}

// ready reads earlier answers from the store, reports what the rest may cost, and refuses a job that is too expensive,
// before the first call.
func (w *work) ready(ctx context.Context, p plan) error {
	if err := w.recall(ctx, p); err != nil {
		return err
	}
	open := p.pending()
	w.total, w.done = len(p.nodes), atomic.Int64{}
	w.done.Store(int64(len(p.nodes) - len(open)))
	cost := 0
	for _, n := range open {
		cost += w.highestCost(n)
	}
	paid := w.ledger.paid()
	if most := w.deps.MaxTokens; most > 0 && paid+cost > most {
		return tooExpensive("its summary may take %d tokens in %d calls of the model, more than %d", paid+cost, len(open),
			most)
	}
	if err := w.call.Progress.Stage(stageSummarizing); err != nil {
		return err
	}
	w.call.Progress.Report(w.fraction(),
		fmt.Sprintf("%d calls of the model, at most %d tokens; %d of %d parts are known from before",
			len(open), cost, len(p.nodes)-len(open), len(p.nodes)))
	w.deps.Log.Info("a summary begins", "job_id", w.call.Task.ID, "tokens_of_document", w.doc.tokens, "calls",
		len(open),
		"parts", len(p.nodes), "tokens_at_most", cost)
	return w.call.Progress.Save(ctx)
}

const tooManyTokens = "SUMMARIZE_TOO_MANY_TOKENS"

// tooExpensive returns the error of a task that would exceed its tokens.
func tooExpensive(format string, args ...any) error {
	return &taskerr.Error{
		Class: taskerr.QuotaExceeded, Code: tooManyTokens,
		Message: fmt.Sprintf(format, args...) + "; raise MAX_TASK_TOKENS, or send less",
	}
}

func (w *work) fraction() float64 { return float64(w.done.Load()) / float64(max(w.total, 1)) }

// recall reads the kept answers of the plan's nodes. A forced job gets only those that it paid for itself, and so does any
// job of the refusals: the model or the content filter may allow more by now.
func (w *work) recall(ctx context.Context, p plan) error {
	byKey := map[string][]*node{}
	for _, n := range p.nodes {
		byKey[n.key] = append(byKey[n.key], n)
	}
	keys := []string{w.lostKey()}
	for key := range byKey {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for some := range slices.Chunk(keys, store.MaxPartialKeys) {
		found, err := w.deps.Store.Partials(ctx, store.PartialQuery{
			JobID: w.call.Task.ID, Keys: some, OwnOnly: w.call.Task.Hints.Force,
		})
		if err != nil {
			return fmt.Errorf("look for what the model answered before: %w", err)
		}
		for _, partial := range found {
			if partial.Key == w.lostKey() {
				if partial.Own {
					w.ledger.recalled(partial)
				}
				continue
			}
			var n notes
			if json.Unmarshal(partial.Answer, &n) != nil || n.Summary == "" && len(n.Omitted) == 0 {
				continue // of another version of this program
			}
			if n.Summary == "" && !partial.Own {
				continue
			}
			w.ledger.recalled(partial)
			for _, of := range byKey[partial.Key] {
				w.finish(of, n)
			}
		}
	}
	return nil
}

// lostKey is the key of what the task has paid for without an answer to keep.
func (w *work) lostKey() string {
	sum := sha256.Sum256([]byte(w.call.Task.ID))
	return "summarize-lost-" + hex.EncodeToString(sum[:])
}

// finish sets the notes of a node.
func (w *work) finish(n *node, made notes) {
	made.heading = w.doc.passages[n.first].heading
	n.notes = &made
}

// run asks the pending questions level by level, several at a time, and keeps each answer at once. After a failure it
// starts no more calls, but waits for those in progress, which are paid for.
func (w *work) run(ctx context.Context, p plan) error {
	levels := map[int]map[string][]*node{} // by depth, then by key: equal sections share a call
	for _, n := range p.pending() {
		if levels[n.depth] == nil {
			levels[n.depth] = map[string][]*node{}
		}
		levels[n.depth][n.key] = append(levels[n.depth][n.key], n)
	}
	for depth := 0; depth <= p.root.depth; depth++ {
		var failed atomic.Bool
		var calls errgroup.Group
		calls.SetLimit(max(w.deps.Concurrency, 1))
		for _, same := range inOrder(levels[depth]) {
			if failed.Load() || ctx.Err() != nil {
				break
			}
			calls.Go(handlers.Safely(func() error {
				if failed.Load() || ctx.Err() != nil {
					return context.Cause(ctx)
				}
				err := w.answer(ctx, p, same)
				if err != nil {
					failed.Store(true)
				}
				return err
			}))
		}
		if err := calls.Wait(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// inOrder lists groups of nodes in the order of the document.
func inOrder(groups map[string][]*node) [][]*node {
	var all [][]*node
	for _, same := range groups {
		slices.SortFunc(same, func(a, b *node) int { return a.first - b.first })
		all = append(all, same)
	}
	slices.SortFunc(all, func(a, b []*node) int { return a[0].first - b[0].first })
	return all
}

// answer asks the question of equal nodes.
func (w *work) answer(ctx context.Context, p plan, same []*node) error {
	n := same[0]
	var made notes
	if silent := w.nothing(n); silent != nil {
		made = *silent
	} else {
		var err error
		if made, err = w.ask(ctx, n, n == p.root); err != nil {
			return err
		}
	}
	for _, of := range same {
		w.finish(of, made)
	}
	done := w.done.Add(int64(len(same)))
	w.call.Progress.Report(w.fraction(), fmt.Sprintf("%d of %d parts are summarized", done, w.total))
	return nil
}

// nothing returns the notes of a node whose parts were all left out; nil: there is something to ask.
func (w *work) nothing(n *node) *notes {
	if len(n.parts) == 0 {
		return nil
	}
	out := notes{}
	for _, part := range n.parts {
		if !part.notes.empty() {
			return nil
		}
		out.Omitted = append(out.Omitted, part.notes.Omitted...)
	}
	return &out
}

// keepTime is how long the store may take to keep an answer, which is paid for, even if the task must stop.
const keepTime = 10 * time.Second

// shelf keeps answers. Those that the store did not take are sent with the next.
type shelf struct {
	mu     sync.Mutex
	unkept []store.Partial
}

func (w *work) shelve(ctx context.Context, partial store.Partial) {
	w.shelf.mu.Lock()
	all := append(w.shelf.unkept, partial)
	w.shelf.unkept = nil
	w.shelf.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	if err := w.deps.Store.KeepPartials(ctx, w.call.Task.ID, all); err != nil {
		w.deps.Log.Warn("can't keep what a model answered; with the next answer it is tried again", "job_id",
			w.call.Task.ID, "error", err)
		w.shelf.mu.Lock()
		w.shelf.unkept = append(w.shelf.unkept, all...)
		w.shelf.mu.Unlock()
	}
}
