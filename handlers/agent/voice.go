package agent

import (
	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// voice streams the text of an answer as it arrives: the model's text, or the value of answer in a call of finish or in
// an answer that must conform to a schema.
type voice struct {
	progress handlers.Progress
	state    *state
	whole    bool   // texts are streamed as they are, not the value of a key
	begun    bool   // something was streamed in this step
	arrived  bool   // the stage streaming_response was entered
	value    *value // of a call of finish; nil: none yet
	text     *value
}

// step begins the next answer of the model.
func (v *voice) step(whole bool) { v.whole, v.begun, v.value, v.text = whole, false, nil, nil }

// listen makes a question stream its answer.
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
			v.begun = false // the text before the call is not the answer
		}
		v.say(v.value.feed(piece))
	}
}

// arrive enters the stage of the answer, once.
func (v *voice) arrive() {
	if !v.arrived {
		v.arrived = true
		_ = v.progress.Stage(stageStreaming) // ctx reports a stop
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
