package ingest

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-7227ef26/async-worker/internal/chunk"
	"github.com/seed-7227ef26/async-worker/internal/source"
)

// chunkFile keeps chunks on disk, as there may be many. The file is removed with its folder.
type chunkFile struct {
	path string
	file *os.File // nil: none yet
	enc  *gob.Encoder
}

func newChunkFile(dir, name string) *chunkFile { return &chunkFile{path: filepath.Join(dir, name)} }

func (f *chunkFile) add(c chunk.Chunk) error {
	if f.file == nil {
		file, err := os.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err != nil {
			return source.NoRoom(err)
		}
		f.file, f.enc = file, gob.NewEncoder(file)
	}
	if err := f.enc.Encode(c); err != nil {
		return source.NoRoom(err)
	}
	return nil
}

// each passes on the chunks, in order. No chunk may be added afterwards.
func (f *chunkFile) each(next func(chunk.Chunk) error) error {
	if f.file == nil {
		return nil
	}
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return source.NoRoom(err)
	}
	for dec := gob.NewDecoder(f.file); ; {
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

func (f *chunkFile) close() {
	if f.file != nil {
		_ = f.file.Close() // the file is removed with its folder
	}
}
