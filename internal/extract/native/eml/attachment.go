package eml

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// attached is an attachment that is saved until the text of its message has been read.
type attached struct {
	path, name string
	message    bool // of the type message/rfc822
}

// attachment saves the content of a part, to be read as a file under its name.
func (w *walker) attachment(content io.Reader, name string) error {
	path, err := w.files.Save(content)
	if err != nil {
		return err
	}
	w.kept = append(w.kept, attached{path: path, name: name})
	return nil
}

// forwarded saves a message within the message. One that is too large to be saved beside its own attachments, each of
// which counts toward the same limit, is read where it is.
func (w *walker) forwarded(content io.Reader, name string, depth int) error {
	if w.files.Room() < 2*w.size {
		if !w.files.Admit(cmp.Or(name, "a message")) {
			return nil
		}
		return w.inner(name, content, w.size, depth)
	}
	path, err := w.files.Save(content)
	if err != nil {
		return err
	}
	w.kept = append(w.kept, attached{path: path, name: name, message: true})
	return nil
}

// attachments reads what is kept of a message, in its order.
func (w *walker) attachments(depth int) error {
	for _, a := range w.kept {
		var err error
		if a.message {
			err = w.keptMessage(a, depth)
		} else {
			err = w.files.Attached(a.path, a.name, depth+2)
		}
		if err != nil {
			return err
		}
		if w.ctx.Err() != nil {
			return fmt.Errorf("read a message: %w", context.Cause(w.ctx))
		}
	}
	return nil
}

func (w *walker) keptMessage(a attached, depth int) error {
	if w.files.Admit(cmp.Or(a.name, "a message")) {
		if err := w.attachedMessage(a.path, a.name, depth+2); err != nil {
			return err
		}
	}
	return w.files.Remove(a.path)
}

// envelope handles a part that is an envelope of PKCS #7 (RFC 8551, section 3.2). kind is empty if the part doesn't state
// it. What is not encrypted is an attachment, though none that can be read.
func (w *walker) envelope(h header, kind string, r io.Reader, name string, depth int) error {
	content := bufio.NewReader(transferred(h, r))
	head, _ := content.Peek(256) // less of a shorter one
	if strings.HasSuffix(strings.ToLower(kind), "enveloped-data") || kind == "" && extract.Encrypted(head) {
		return w.sealed(depth)
	}
	return w.attachment(content, name)
}

// attachedMessage reads a file that is a message, and that stands under a heading of the level above its own.
func (w *walker) attachedMessage(path, name string, level int) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open an attached message: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	about, err := file.Stat()
	if err != nil {
		return fmt.Errorf("open an attached message: %w", err)
	}
	return w.inner(name, file, about.Size(), level-2)
}

// inner reads a message within the message.
func (w *walker) inner(name string, r io.Reader, size int64, depth int) error {
	if limit := w.files.Depth(); depth+1 > limit {
		w.files.Missed(name, fmt.Sprintf("messages are nested more than %d deep", max(limit, 0)))
		return nil
	}
	_, err := w.message(w.input(r), size, depth+1)
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
