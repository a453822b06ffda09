// Package eml extracts e-mail messages (RFC 5322, MIME): the header, the text, and the attachments, each with
// the extractor of its own format. A message within the message is read as a part of it.
package eml

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
)

// version increases when the same message would produce other blocks.
const version = 6

// New returns an extractor that reads texts and attachments with all. An unreadable attachment is not an error, but
// a warning. Info.Properties has what the message states: author, recipients, cc, created (RFC 3339), message_id,
// producer, and attachments, their number. Blocks have neither page nor box: those would be an attachment's.
func New(all nested.All) extract.Extractor { return nested.Container("native/eml", version, all, read) }

func read(
	ctx context.Context, src extract.Source, _ extract.Limits, files *nested.Reader,
) (extract.Info, error) {
	file, err := open(src.Path)
	if err != nil {
		return extract.Info{}, err
	}
	defer func() { _ = file.Close() }() // read-only
	w := &walker{ctx: ctx, files: files}
	files.Mention, files.Message = "Attachment: ", w.attachedMessage
	h, err := w.message(w.input(file), src.Size, 0)
	if err != nil {
		return extract.Info{}, err
	}
	return h.info(), nil
}

// open opens a message. One that was saved as UTF-16 or UTF-32, as no mail is sent, is read as UTF-8; of the others each
// part has an encoding of its own.
func open(path string) (io.ReadCloser, error) {
	text, name, err := charset.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open message: %w", err)
	}
	switch name {
	case charset.UTF16LE, charset.UTF16BE, charset.UTF32LE, charset.UTF32BE:
		return text, nil
	}
	_ = text.Close() // read-only
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open message: %w", err)
	}
	return file, nil
}

// input reads the message until ctx ends.
func (w *walker) input(r io.Reader) *bufio.Reader {
	return bufio.NewReaderSize(reader(func(p []byte) (int, error) {
		if w.ctx.Err() != nil {
			return 0, context.Cause(w.ctx)
		}
		return r.Read(p)
	}), 64<<10)
}

type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// info returns what the message states about itself.
func (h header) info() extract.Info {
	return extract.Info{
		Title: h.text("Subject"),
		Properties: map[string]string{
			"author": h.author(), "recipients": h.addresses("To"), "cc": h.addresses("Cc"),
			"message_id": strings.Trim(h.text("Message-Id"), "<>"), "created": h.date(),
			"producer": cmp.Or(h.text("X-Mailer"), h.text("User-Agent")),
		},
	}
}
