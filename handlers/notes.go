package handlers

import (
	"encoding/json"
	"maps"
	"sync"
)

// Notes divides a task's checkpoint among the parts of a handler: each has its own note, independent of the others.
// It is safe for concurrent use.
type Notes struct {
	progress Progress

	mu    sync.Mutex
	notes map[string]json.RawMessage
}

// NewNotes decodes the checkpoint of the previous attempt. One that Notes did not write is ignored.
func NewNotes(c Call) *Notes {
	n := &Notes{progress: c.Progress}
	if len(c.Checkpoint) == 0 || json.Unmarshal(c.Checkpoint, &n.notes) != nil || n.notes == nil {
		n.notes = map[string]json.RawMessage{}
	}
	return n
}

// Note returns the note of a part.
func (n *Notes) Note(name string) *Note { return &Note{n, name} }

// Note is a value that one part of a handler keeps for the next attempt. It implements extract.Memory.
type Note struct {
	of   *Notes
	name string
}

// Load decodes the last saved value, of this attempt or an earlier one, into v; false: there is none of this type.
func (n *Note) Load(v any) bool {
	n.of.mu.Lock()
	defer n.of.mu.Unlock()
	raw, ok := n.of.notes[n.name]
	return ok && json.Unmarshal(raw, v) == nil
}

// Save keeps v for the next attempt, from the next heartbeat on. It panics if v can't be marshaled, which is a bug.
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
