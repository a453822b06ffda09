package agent

import (
	"github.com/seed-7227ef26/async-worker/handlers"
	"github.com/seed-7227ef26/async-worker/internal/llm"
)

// answerStream streams the text of an answer as it arrives: the model's text, or the value of answer in a call of finish
// or in an answer that must conform to a schema.
type answerStream struct {
	progress handlers.Progress
	state    *state
	whole    bool   // texts are streamed as they are, not the value of a key
	begun    bool   // something was streamed in this step
	entered  bool   // the stage streaming_response was entered
	value    *value // of a call of finish; nil: none yet
	text     *value
}

// step starts the next answer of the model.
func (s *answerStream) step(whole bool) { s.whole, s.begun, s.value, s.text = whole, false, nil, nil }

// attach makes a question stream its answer.
func (s *answerStream) attach(q *llm.Question) {
	q.Stream = func(piece string, restart bool) {
		if restart {
			s.begun, s.value, s.text = false, nil, nil
		}
		if !s.whole {
			if s.text == nil {
				s.text = newValue()
			}
			piece = s.text.feed(piece)
		}
		s.send(piece)
	}
	q.StreamCall = func(name, piece string) {
		if name != finishName {
			return
		}
		if s.value == nil {
			s.value = newValue()
			s.begun = false // the text before the call is not the answer
		}
		s.send(s.value.feed(piece))
	}
}

// enterStage enters the stage of the answer, once.
func (s *answerStream) enterStage() {
	if !s.entered {
		s.entered = true
		_ = s.progress.Stage(stageStreaming) // ctx reports a stop
	}
}

func (s *answerStream) send(piece string) {
	if piece == "" {
		return
	}
	s.enterStage()
	s.progress.Delta(piece, !s.begun && s.state.Streamed)
	s.begun, s.state.Streamed = true, true
}
