package ingest

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

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
	if a == nil || a.Format == "" || a.Blob != w.payload.Blob || a.Pipeline != w.pipelineID(extract.Format(a.Format)) {
		return source.Version{}
	}
	return source.Version{ETag: a.SourceETag, Modified: a.SourceModified}
}

// sameBytes reports whether the active version was made of the same bytes in the same way.
func (w *work) sameBytes() bool {
	a := w.active()
	return a != nil && a.ContentSHA256 == w.file.SHA256 && a.Pipeline == w.pipeline
}

// heldChunks holds back the chunks of a document while they equal those of the active version, one by one: only the end
// shows whether anything must be written. They wait on disk, as there may be many. The first different chunk releases
// them all.
type heldChunks struct {
	keys []string // of the active version's chunks
	n    int      // chunks held back
	file *os.File // nil: none yet
	enc  *gob.Encoder
}

// take holds back a chunk if it is the next one of the active version.
func (h *heldChunks) take(c chunk.Chunk, dir string) (bool, error) {
	if h.n >= len(h.keys) || h.keys[h.n] != c.Key {
		return false, nil
	}
	if h.file == nil {
		file, err := os.OpenFile(filepath.Join(dir, "chunks"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return false, source.NoRoom(err)
		}
		h.file, h.enc = file, gob.NewEncoder(file)
	}
	if err := h.enc.Encode(c); err != nil {
		return false, source.NoRoom(err)
	}
	h.n++
	return true, nil
}

// whole reports whether all chunks of the active version are held back.
func (h *heldChunks) whole() bool { return h.n == len(h.keys) }

// release passes on the chunks that were held back, in order.
func (h *heldChunks) release(next func(chunk.Chunk) error) error {
	if h.file == nil {
		return nil
	}
	if _, err := h.file.Seek(0, io.SeekStart); err != nil {
		return source.NoRoom(err)
	}
	for dec := gob.NewDecoder(h.file); ; {
		var c chunk.Chunk
		err := dec.Decode(&c)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read back the chunks: %w", source.NoRoom(err))
		}
		if err := next(c); err != nil {
			return err
		}
	}
}

func (h *heldChunks) close() {
	if h.file != nil {
		_ = h.file.Close() // the file is removed with its folder
	}
}
