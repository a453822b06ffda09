package engine

import (
	"context"
	"encoding/json"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// streamEvery bounds how often pieces of a text are written, except the first.
const streamEvery = 300 * time.Millisecond

// maxUnwritten is how many events may wait during an outage of the store before pieces of a text stop being separate
// events.
const maxUnwritten = 64

// text is generated text that is not yet written.
type text struct {
	pieces  []byte
	restart bool // it replaces what was written before
	begun   bool // its first piece was reported
}

// Delta adds a piece of the text that the handler generates.
func (j *journal) Delta(piece string, restart bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if restart {
		j.text = text{restart: true}
	}
	if piece == "" && !restart {
		return
	}
	j.text.pieces = append(j.text.pieces, piece...)
	first := !j.text.begun
	j.text.begun = true
	if first {
		signal(j.now)
		j.hurry()
		return
	}
	j.signal()
}

// Save writes the notes now.
func (j *journal) Save(ctx context.Context) error { return j.save(ctx) }

// seal turns the collected pieces into an event, or adds them to the event about progress within the stage.
func (j *journal) seal() {
	if len(j.text.pieces) == 0 && !j.text.restart {
		return
	}
	e := j.event("")
	if j.within != nil {
		e = *j.within
		j.within = nil
	}
	raw, err := json.Marshal(store.Delta{Piece: string(j.text.pieces), Restart: j.text.restart})
	if err != nil {
		panic("a text can't be encoded as JSON: " + err.Error()) // any string can
	}
	e.Metadata = raw
	j.events = append(j.events, e)
	j.text.pieces, j.text.restart = nil, false
}

// flushDelay is how long notes wait for more.
func (j *journal) flushDelay() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.text.begun {
		return streamEvery
	}
	return flushEvery
}
