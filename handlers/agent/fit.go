package agent

import (
	"slices"

	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// fit shortens the conversation to room tokens and returns how many it has. It drops the oldest messages of the history
// while they need more than half of room. Then it replaces results of tools by a note, the oldest first, and after them
// what the model said beside its calls; those of the last answer come at the end. It removes more than necessary, so that
// the next questions have the same prefix, for which services charge less.
func (r *run) fit(room int) int {
	for r.state.Forgotten < len(r.payload.History) && r.historyTokens() > room/2 {
		r.state.Forgotten++
	}
	newest := len(r.state.Turns)
	for newest > 0 && r.state.Turns[newest-1].Role != llm.Assistant {
		newest--
	}
	if total, held := r.size(); total > room || held > maxHeld {
		r.shorten(0, newest, room*3/4, maxHeld*3/4, leaveOutResult)
	}
	if total, held := r.size(); total > room || held > maxHeld {
		r.shorten(0, newest-1, room*3/4, maxHeld*3/4, leaveOutWords)
	}
	for total, _ := r.size(); total > room && r.state.Forgotten < len(r.payload.History); total, _ = r.size() {
		r.state.Forgotten++
	}
	r.shorten(newest, len(r.state.Turns), room, maxHeld, leaveOutResult)
	return r.shorten(max(newest-1, 0), newest, room, maxHeld, leaveOutWords)
}

// shorten makes turns shorter, until the conversation is within tokens and held (bytes) or all of them are. It returns the
// tokens of the conversation.
func (r *run) shorten(from, to, tokens, held int, leaveOut func(turn) turn) int {
	total, size := r.size()
	for i := from; i < to && (total > tokens || size > held); i++ {
		before := r.state.Turns[i]
		after := leaveOut(before)
		if after.bytes() >= before.bytes() {
			continue
		}
		r.state.Turns[i] = after
		if after.Short {
			delete(r.state.Asked, after.Key) // the call may be repeated
		}
		total += r.tokens(after) - r.tokens(before)
		size += after.bytes() - before.bytes()
	}
	return total
}

// leaveOutResult replaces the result of a tool by a note.
func leaveOutResult(t turn) turn {
	if t.Role == llm.ToolTurn && !t.Short {
		t.Text = "(The result of this call was left out to save room. Make the call again if you need it.)"
		t.Short = true
	}
	return t
}

// What is left of the words of the model.
const (
	leastWords     = 200 // characters
	leastArguments = 300 // bytes
)

// leaveOutWords cuts what the model said beside its calls, and their arguments. An answer, also in a call of finish, is
// kept whole: it may be the best one.
func leaveOutWords(t turn) turn {
	if t.Role != llm.Assistant || len(t.Calls) == 0 || slices.ContainsFunc(t.Calls, isFinish) {
		return t
	}
	t.Text = clip(t.Text, leastWords)
	t.Calls = slices.Clone(t.Calls)
	for i, c := range t.Calls {
		if len(c.Arguments) > leastArguments {
			t.Calls[i].Arguments = `{"left_out":"to save room"}`
		}
	}
	return t
}

// bytes is the size of what the model reads of a turn.
func (t turn) bytes() int {
	n := len(t.Text)
	for _, c := range t.Calls {
		n += len(c.Arguments)
	}
	return n
}

func (r *run) historyTokens() (n int) {
	for _, m := range r.payload.History[r.state.Forgotten:] {
		n += r.deps.Counter.Count(m.Content) + turnTokens
	}
	return n
}

// size returns the size of the conversation in tokens and bytes.
func (r *run) size() (tokens, held int) {
	tokens = r.deps.Counter.Count(r.payload.Prompt) + turnTokens + r.historyTokens()
	for _, t := range r.state.Turns {
		tokens += r.tokens(t)
		held += t.bytes()
	}
	return tokens, held
}

func (r *run) tokens(t turn) int {
	n := r.deps.Counter.Count(t.Text) + turnTokens
	for _, c := range t.Calls {
		n += r.deps.Counter.Count(c.Arguments) + turnTokens
	}
	return n
}
