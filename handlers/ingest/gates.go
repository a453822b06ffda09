package ingest

import (
	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/source"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// active returns the version that the gates compare with; nil: there is none, or it must be rebuilt.
func (w *work) active() *store.ActiveVersion {
	if w.call.Task.Hints.Force {
		return nil
	}
	return w.staged.Active
}

// knownSource returns what the active version was made of, if the same version would be made of it today; otherwise it is
// empty. The same bytes have the same format, so the extractor is known.
func (w *work) knownSource() source.Version {
	a := w.active()
	if a == nil || a.Format == "" || a.Blob != w.payload.Blob || !settled(a, w.pipelineID(extract.Format(a.Format))) {
		return source.Version{}
	}
	return source.Version{ETag: a.SourceETag, Modified: a.SourceModified}
}

// sameBytes reports whether the active version was made of the same bytes in the same way.
func (w *work) sameBytes() bool {
	a := w.active()
	return a != nil && a.ContentSHA256 == w.file.SHA256 && settled(a, w.pipeline)
}

// heldChunks holds back the chunks of a document while they equal those of the active version, one by one: only the end
// shows whether anything must be written. The first different chunk releases them all.
type heldChunks struct {
	*chunkFile
	keys []string // of the active version's chunks
	n    int      // chunks held back
}

// take holds back a chunk if it is the next one of the active version.
func (h *heldChunks) take(c chunk.Chunk) (bool, error) {
	if h.n >= len(h.keys) || h.keys[h.n] != c.Key {
		return false, nil
	}
	if err := h.add(c); err != nil {
		return false, err
	}
	h.n++
	return true, nil
}

// whole reports whether all chunks of the active version are held back.
func (h *heldChunks) whole() bool { return h.n == len(h.keys) }
