package eml

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// attachment saves the content of a part and reads it as a file under its name.
func (w *walker) attachment(content io.Reader, name string, depth int) error {
	path, err := w.files.Save(content)
	if err != nil {
		return err
	}
	return w.files.Attached(path, name, depth+2)
}

// envelope handles a part that is an envelope of PKCS #7 (RFC 8551, section 3.2). kind is empty if the part doesn't state
// it. What is not encrypted is an attachment, though none that can be read.
func (w *walker) envelope(h header, kind string, r io.Reader, name string, depth int) error {
	content := bufio.NewReader(transferred(h, r))
	head, _ := content.Peek(256) // less of a shorter one
	if strings.HasSuffix(strings.ToLower(kind), "enveloped-data") || kind == "" && extract.Encrypted(head) {
		return w.sealed(depth)
	}
	return w.attachment(content, name, depth)
}

// attachedMessage reads a file that is a message, and that stands under a heading of the level above its own.
func (w *walker) attachedMessage(path, name string, level int) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open an attached message: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	return w.inner(name, file, level-2)
}

// inner reads a message within the message.
func (w *walker) inner(name string, r io.Reader, depth int) error {
	if limit := w.files.Depth(); depth+1 > limit {
		w.files.Missed(name, fmt.Sprintf("messages are nested more than %d deep", max(limit, 0)))
		return nil
	}
	_, err := w.message(w.input(r), depth+1)
	if e, ok := errors.AsType[*taskerr.Error](err); ok && e.Class == taskerr.CorruptionDetected && !w.files.Stopped() {
		w.files.Missed(name, e.Message)
		return nil
	}
	return err
}

// read extracts a saved text of the message.
func (w *walker) read(path string, format extract.Format, emit extract.Emit) error {
	_, err := w.files.Read(extract.Source{Path: path, Format: format}, 0, emit)
	return err
}
