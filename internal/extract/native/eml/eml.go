// Package eml extracts e-mail messages (RFC 5322, MIME): the header, the text, and the attachments, each with
// the extractor of its own format. A message within the message is read as a part of it.
package eml

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
)

// version increases when the same message would produce other blocks.
const version = 1

// Parts reads the texts and attachments of a message. *extract.Router implements it. It need not read messages.
type Parts interface {
	extract.Runner
	Formats() []extract.Format
	Version(f extract.Format) string
}

// Extractor reads messages. An unreadable attachment is not an error; Info.Properties reports it:
//
//	unread_attachments        how many attachments could not be read, or not in full
//	unread_attachments_list   each with its reason; a long list is truncated with "…"
//
// It also reports what the message states: author, recipients, cc, created (RFC 3339), message_id, producer,
// and attachments, their number. Blocks have neither page nor box: those would be an attachment's.
type Extractor struct{ parts Parts }

// New returns an Extractor that reads texts and attachments with parts.
func New(parts Parts) *Extractor { return &Extractor{parts: parts} }

// Name covers the extractors of the parts: when one of them changes, messages are read again.
func (e *Extractor) Name() string {
	hash := fnv.New32a()
	for _, f := range e.parts.Formats() {
		_, _ = io.WriteString(hash, string(f)+" "+e.parts.Version(f)+"\n") // a hash never fails
	}
	return fmt.Sprintf("native/eml+%08x", hash.Sum32())
}

// Version implements extract.Extractor.
func (*Extractor) Version() int { return version }

// Extract implements extract.Extractor.
func (e *Extractor) Extract(
	ctx context.Context, src extract.Source, limits extract.Limits, emit extract.Emit,
) (info extract.Info, err error) {
	file, err := os.Open(src.Path)
	if err != nil {
		return extract.Info{}, fmt.Errorf("open message: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	dir, err := os.MkdirTemp(src.TempDir, "mail-")
	if err != nil {
		return extract.Info{}, fmt.Errorf("make a folder for attachments: %w", err)
	}
	defer func() {
		if gone := os.RemoveAll(dir); gone != nil && err == nil {
			err = fmt.Errorf("remove attachments: %w", gone)
		}
	}()
	w := &walker{ctx: ctx, parts: e.parts, left: limits.WithDefaults(), emit: emit, dir: dir}
	h, err := w.message(w.input(file), 0)
	if err != nil {
		return extract.Info{}, err
	}
	return w.info(h), nil
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

// info returns the message's metadata after it was read in full.
func (w *walker) info(h header) extract.Info {
	p := map[string]string{
		"author": h.addresses("From"), "recipients": h.addresses("To"), "cc": h.addresses("Cc"),
		"message_id": strings.Trim(h.text("Message-Id"), "<>"), "created": h.date(),
		"producer": cmp.Or(h.text("X-Mailer"), h.text("User-Agent")),
	}
	if w.attached > 0 {
		p["attachments"] = fmt.Sprint(w.attached)
	}
	if len(w.unread) > 0 {
		p["unread_attachments"] = fmt.Sprint(len(w.unread))
		p["unread_attachments_list"] = shorten(strings.Join(w.unread, "; "), maxList)
	}
	return extract.Info{Format: extract.EML, Extractor: "native/eml", Title: h.text("Subject"), Properties: p}
}
