package engine

import (
	"context"
	"encoding/json"
	"time"
)

// streamEvery bounds how often pieces of a text are written, but for its first: a few times a second.
const streamEvery = 300 * time.Millisecond

// maxUnwritten is how many events may wait for a store that is away before pieces of a text become no events of
// their own any more.
const maxUnwritten = 64

// text is what a handler is getting and the store has not yet.
type text struct {
	pieces  []byte
	restart bool // it voids what was written before
	begun   bool // its first piece was told
}

// delta is the metadata of the event of a piece.
type delta struct {
	Delta   string `json:"delta"`
	Restart bool   `json:"restart,omitempty"`
}

// Delta tells a piece of the text that the handler is getting.
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
		return
	}
	j.signal()
}

// Save writes what was told so far.
func (j *journal) Save(ctx context.Context) error { return j.save(ctx) }

// seal makes an event of the pieces that have come, or adds them to the one about the progress within the stage.
func (j *journal) seal() {
	if len(j.text.pieces) == 0 && !j.text.restart {
		return
	}
	e := j.event("")
	if j.within != nil {
		e = *j.within
		j.within = nil
	}
	raw, err := json.Marshal(delta{string(j.text.pieces), j.text.restart})
	if err != nil {
		panic("a text can't be written as JSON: " + err.Error()) // any string can
	}
	e.Metadata = raw
	j.events = append(j.events, e)
	j.text.pieces, j.text.restart = nil, false
}

// pace is how long what was told waits for more.
func (j *journal) pace() time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.text.begun {
		return streamEvery
	}
	return flushEvery
}
