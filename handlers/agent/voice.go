package agent

import (
	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// voice tells the text of an answer as it comes: what the model says, and of a call of finish, or of an answer that
// has to conform to a schema, the value of answer.
type voice struct {
	progress handlers.Progress
	state    *state
	whole    bool   // a spoken text is told as it is, and not by the value of a key
	begun    bool   // something was told in this step
	arrived  bool   // the stage of the answer was entered
	value    *value // of finish; nil: it was not called yet
	text     *value
}

// step begins the next answer of the model.
func (v *voice) step(whole bool) { v.whole, v.begun, v.value, v.text = whole, false, nil, nil }

// listen makes a question tell its answer.
func (v *voice) listen(q *llm.Question) {
	q.Stream = func(piece string, restart bool) {
		if restart {
			v.begun, v.value, v.text = false, nil, nil
		}
		if !v.whole {
			if v.text == nil {
				v.text = newValue()
			}
			piece = v.text.feed(piece)
		}
		v.say(piece)
	}
	q.StreamCall = func(name, piece string) {
		if name != finishName {
			return
		}
		if v.value == nil {
			v.value = newValue()
			v.begun = false // what was said before the call is not the answer
		}
		v.say(v.value.feed(piece))
	}
}

// arrive enters the stage of the answer, once.
func (v *voice) arrive() {
	if !v.arrived {
		v.arrived = true
		_ = v.progress.Stage(stageStreaming) // who is to stop learns it by the context
	}
}

func (v *voice) say(piece string) {
	if piece == "" {
		return
	}
	v.arrive()
	v.progress.Delta(piece, !v.begun && v.state.Told)
	v.begun, v.state.Told = true, true
}
