// Package mbox reads mailboxes (RFC 4155): messages one after the other, each after a line that begins with "From ".
package mbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// New returns an extractor of mailboxes. A message that can't be read is not an error, but a warning.
func New(all nested.All) extract.Extractor { return nested.Container("native/mbox", 1, all, read) }

func read(
	ctx context.Context, src extract.Source, _ extract.Limits, r *nested.Reader,
) (extract.Info, error) {
	file, err := os.Open(src.Path)
	if err != nil {
		return extract.Info{}, fmt.Errorf("open mailbox: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	box := &mailbox{r: bufio.NewReaderSize(file, 64<<10), start: true}
	messages := 0
	for box.next() {
		if err := ctx.Err(); err != nil {
			return extract.Info{}, fmt.Errorf("read a mailbox: %w", context.Cause(ctx))
		}
		messages++
		name := fmt.Sprintf("message %d", messages)
		if !r.AdmitMessage() {
			r.Missed(name+" and those after it", fmt.Sprintf("at most %d messages of mailboxes are read", nested.MaxMessages))
			break
		}
		path, err := r.Save(box)
		if err != nil {
			return extract.Info{}, err
		}
		_, err = r.Read(extract.Source{Path: path, Name: name, Format: extract.EML}, 0, r.Put)
		_ = os.Remove(path) // removed with its folder at the latest
		if err != nil {
			if err := r.Refused(name, err); err != nil {
				return extract.Info{}, err
			}
		}
	}
	if box.err != nil {
		return extract.Info{}, taskerr.Errorf(taskerr.CorruptionDetected, "the mailbox can't be read to its end: %w", box.err)
	}
	return extract.Info{Properties: map[string]string{"messages": fmt.Sprint(messages)}}, nil
}

// mailbox reads one message after the other. A message ends before a line that begins with "From " after a blank
// line; ">From " at the start of a line stands for "From " (the variant mboxrd).
type mailbox struct {
	r       *bufio.Reader
	start   bool   // at the "From " line of the next message
	blank   bool   // the last line was blank
	partial bool   // the last line has no end yet
	line    []byte // the rest of a line that was read
	err     error
}

// next goes to the next message.
func (m *mailbox) next() bool {
	if _, err := io.Copy(io.Discard, m); err != nil || !m.start {
		return false
	}
	m.start, m.blank, m.partial = false, false, false
	for { // the line with "From "
		_, err := m.r.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err == nil
		}
	}
}

// Read reads from the current message.
func (m *mailbox) Read(p []byte) (int, error) {
	for len(m.line) == 0 {
		if m.start || m.err != nil {
			return 0, io.EOF
		}
		if err := m.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, m.line)
	m.line = m.line[n:]
	return n, nil
}

func (m *mailbox) fill() error {
	if head, _ := m.r.Peek(5); m.blank && !m.partial && string(head) == "From " {
		m.start = true
		return nil
	}
	line, err := m.r.ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		if !errors.Is(err, io.EOF) {
			m.err = err
		}
		if len(line) == 0 {
			return io.EOF
		}
	}
	if !m.partial {
		m.blank = len(bytes.TrimRight(line, "\r\n")) == 0
		if quoted := bytes.TrimLeft(line, ">"); len(quoted) < len(line) && bytes.HasPrefix(quoted, []byte("From ")) {
			line = line[1:]
		}
	}
	m.partial = errors.Is(err, bufio.ErrBufferFull)
	m.line = line
	return nil
}
