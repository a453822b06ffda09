package handlers

import (
	"encoding/json"
	"maps"
	"sync"
)

// Notes divides a task's one checkpoint among the parts of a handler: each has a note of its own, and knows
// nothing of the others'. It is safe for concurrent use.
type Notes struct {
	progress Progress

	mu    sync.Mutex
	notes map[string]json.RawMessage
}

// NewNotes reads what the attempt before left. A checkpoint that was not written by Notes is as none.
func NewNotes(c Call) *Notes {
	n := &Notes{progress: c.Progress}
	if len(c.Checkpoint) == 0 || json.Unmarshal(c.Checkpoint, &n.notes) != nil || n.notes == nil {
		n.notes = map[string]json.RawMessage{}
	}
	return n
}

// Note is one part's note.
func (n *Notes) Note(name string) *Note { return &Note{n, name} }

// Note is a value that one part of a handler leaves for the next attempt. It is an extract.Memory.
type Note struct {
	of   *Notes
	name string
}

// Load reads into v what was saved last, in this attempt or one before; false: nothing was, or not such a value.
func (n *Note) Load(v any) bool {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	raw, ok := n.of.notes[n.name]
	return ok && json.Unmarshal(raw, v) == nil
}

// Save leaves v for the next attempt, with the next heartbeat. A value that can't be marshaled is a bug: it panics.
func (n *Note) Save(v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		panic("a note can't be written as JSON: " + err.Error())
	}
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	n.of.notes[n.name] = raw
	n.of.progress.Checkpoint(maps.Clone(n.of.notes))
}
