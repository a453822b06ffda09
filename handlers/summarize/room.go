package summarize

import "sync"

// leastWindow is the smallest context to try after a question was too long.
const leastWindow = 1024

// room is what a call of the model has room for, as far as it is known.
type room struct {
	window  int // the model's context in tokens, question and answer together
	answers int // the longest answer, after one was too long; zero: unknown
}

// answer returns the most tokens of the answer to a question: those wanted, or what the question leaves of the context.
// A quarter of the context is always the answer's, and with less it is the question that is too long.
func (r room) answer(wanted, question int) int {
	most := max(r.window-question-r.window/50, r.window/4) // the counts of tokens are approximate
	if r.answers > 0 {
		most = min(most, r.answers)
	}
	return min(wanted, most)
}

// has reports whether a question leaves room for an answer.
func (r room) has(question int) bool { return question+r.window/4 <= r.window }

// lessen makes room smaller after the service refused a question with room for its answer as too long. fits is what the
// service says that it accepts; zero: it does not say. It reports whether there is something left to try.
func (r *room) lessen(fits int, refused call) bool {
	least := r.window / 4
	switch {
	case fits > 0 && fits < r.window && r.window > leastWindow:
		r.window = max(fits, leastWindow)
	case refused.answer > least: // no section becomes smaller, and nothing is asked twice
		r.answers = max(refused.answer/2, least)
	case r.window > leastWindow:
		r.window = max(min(r.window/2, refused.tokens()/2*100/contextShare), leastWindow)
	default:
		return false
	}
	return true
}

// call is the size of a call in tokens.
type call struct{ question, answer int }

func (c call) tokens() int { return c.question + c.answer }

// refusals remembers the shortest call that was too long.
type refusals struct {
	mu  sync.Mutex
	min call
}

func (r *refusals) note(question, answer int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := (call{question, answer}); r.min == (call{}) || c.tokens() < r.min.tokens() {
		r.min = c
	}
}

// shortest returns that call, and forgets it.
func (r *refusals) shortest() call {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.min
	r.min = call{}
	return c
}
