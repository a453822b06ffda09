// Package msg extracts Outlook's messages ([MS-OXMSG]): the header, the text, and the attachments, each with the
// extractor of its own format. A message within the message is read as a part of it.
package msg

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/compound"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxRecipients = 500
	maxShown      = 4 << 10  // bytes of the recipients as shown
	maxRTF        = 64 << 20 // bytes of a text, unpacked
)

// version increases when the same message would produce other blocks.
const version = 4

// New returns an extractor of messages. An unreadable attachment is not an error, but a warning. Info.Properties has
// what the message states: author, recipients, cc, created (RFC 3339), message_id, and attachments, their number.
func New(all nested.All) extract.Extractor { return nested.Container("native/msg", version, all, read) }

func read(
	ctx context.Context, src extract.Source, _ extract.Limits, files *nested.Reader,
) (extract.Info, error) {
	file, err := compound.Open(src.Path)
	if err != nil {
		return extract.Info{}, err
	}
	defer func() { _ = file.Close() }() // read-only
	files.Mention = "Attachment: "
	r := &reader{ctx: ctx, file: file, files: files}
	m := newObject(file, "", messageHeader)
	if err := r.message(m, 0); err != nil {
		return extract.Info{}, err
	}
	if file.Spent() {
		files.Missed("the rest of the message", "its parts overlap, so that together they are many times larger than the file")
	}
	return extract.Info{Title: m.text(pidSubject), Properties: map[string]string{
		"author": m.author(), "recipients": r.recipients(m, 1), "cc": r.recipients(m, 2), "created": m.sent(),
		"message_id": strings.Trim(m.text(pidMessageID), "<>"), "attachments": r.attachments,
	}}, nil
}

type reader struct {
	ctx   context.Context //nolint:containedctx // it lives as long as one call of Extract
	file  *compound.File
	files *nested.Reader

	attachments string // their number in what was signed
}

// author returns the person for whom the message was sent. Another person may have sent it: theirs are the sender's
// name and addresses.
func (o object) author() string {
	name, sender := o.text(pidSentFor), o.text(pidSender)
	if name == "" || name == sender {
		return mailbox(sender, cmp.Or(o.text(pidSenderSMTP), o.text(pidSenderAddress)))
	}
	return mailbox(name, cmp.Or(o.text(pidSentForSMTP), o.text(pidSentForAddr)))
}

func (o object) sent() string { return cmp.Or(o.time(pidSubmitted), o.time(pidDelivered)) }

// mailbox returns for example "Jane Doe <jane@example.com>". An address within Exchange is not shown.
func mailbox(name, address string) string {
	switch {
	case !strings.Contains(address, "@") || address == name:
		return name
	case name == "":
		return address
	}
	return name + " <" + address + ">"
}

// recipients lists those of a kind: 1 to, 2 cc.
func (r *reader) recipients(m object, kind uint64) string {
	var all []string
	for i := range maxRecipients {
		path := fmt.Sprintf("%s__recip_version1.0_#%08X", m.path, i)
		if !r.file.Has(path) {
			break
		}
		o := newObject(r.file, path+"/", otherHeader)
		o.code = m.code
		if o.fixed[pidRecipientType]&0xFF == kind {
			all = append(all, mailbox(o.text(pidDisplayName), cmp.Or(o.text(pidSMTPAddress), o.text(pidAddress))))
		}
	}
	if len(all) == 0 {
		return m.text(map[uint64]uint16{1: pidDisplayTo, 2: pidDisplayCc}[kind])
	}
	return nested.Shorten(strings.Join(all, ", "), maxShown)
}

// message reads a message under a heading of the level after depth.
func (r *reader) message(m object, depth int) error {
	entity, name, err := r.secured(m)
	if err != nil {
		return err
	}
	if err := r.files.Put(extract.Block{Kind: extract.Heading, Level: depth + 1, Text: m.text(pidSubject)}); err != nil {
		return err
	}
	for _, field := range []struct{ name, text string }{
		{"From", m.author()}, {"To", r.recipients(m, 1)}, {"Cc", r.recipients(m, 2)}, {"Date", m.sent()},
	} {
		if field.text == "" {
			continue
		}
		if err := r.files.Put(extract.Block{Kind: extract.Paragraph, Text: field.name + ": " + field.text}); err != nil {
			return err
		}
	}
	if entity != nil {
		return r.entity(m, entity, name, depth)
	}
	if err := r.body(m, depth); err != nil {
		return err
	}
	for i := 0; ; i++ {
		o, ok := r.attached(m, i)
		if !ok {
			return nil
		}
		if err := r.ctx.Err(); err != nil {
			return fmt.Errorf("read a message: %w", context.Cause(r.ctx))
		}
		if err := r.attachment(o, depth); err != nil {
			return err
		}
	}
}

// attached returns an attachment of a message by its number.
func (r *reader) attached(m object, i int) (o object, ok bool) {
	path := fmt.Sprintf("%s__attach_version1.0_#%08X", m.path, i)
	if !r.file.Has(path) {
		return object{}, false
	}
	o = newObject(r.file, path+"/", otherHeader)
	o.code = m.code
	return o, true
}

// fileName returns the name of an attachment without its folders.
func (o object) fileName() string {
	name := cmp.Or(o.text(pidLongName), o.text(pidShortName), o.text(pidDisplayName))
	return name[strings.LastIndexAny(name, `/\`)+1:]
}

// body shows the text of a message: the plain one if there is one, because its layout can't be mistaken for content.
func (r *reader) body(m object, depth int) error {
	switch {
	case m.has(pidBody, typeWide), m.has(pidBody, typeString):
		// A byte order mark says what the text's encoding is.
		return r.show(io.MultiReader(strings.NewReader("\xEF\xBB\xBF"), m.open(pidBody)), extract.Text, depth)
	case m.has(pidHTML, typeBinary):
		page := m.file.Stream(m.stream(pidHTML, typeBinary))
		if code, ok := codePage(m.fixed[pidBodyCodePage]); ok {
			page = io.MultiReader(strings.NewReader("\xEF\xBB\xBF"), code.NewDecoder().Reader(page))
		}
		return r.show(page, extract.HTML, depth)
	case m.has(pidHTML, typeWide), m.has(pidHTML, typeString):
		return r.show(io.MultiReader(strings.NewReader("\xEF\xBB\xBF"), m.open(pidHTML)), extract.HTML, depth)
	case m.has(pidRTF, typeBinary):
		text, err := unpackRTF(m.file.Read(m.stream(pidRTF, typeBinary), maxRTF), maxRTF)
		if err != nil {
			r.files.Missed("the text of the message", err.Error())
			return nil
		}
		return r.show(bytes.NewReader(text), extract.RTF, depth)
	}
	return nil
}

func (r *reader) show(text io.Reader, format extract.Format, depth int) error {
	path, err := r.files.Save(text)
	if err != nil {
		return err
	}
	_, err = r.files.Read(extract.Source{Path: path, Format: format}, 0, func(b extract.Block) error {
		b.Level = nested.Below(b, depth+1)
		return r.files.Put(b)
	})
	if e, ok := errors.AsType[*taskerr.Error](err); ok && e.Class == taskerr.CorruptionDetected {
		return r.files.Refused("the text of the message", err)
	}
	return err
}

// attachment reads an attached file or message. Pictures of the text are skipped.
func (r *reader) attachment(o object, depth int) error {
	const ofText = 4 // ATT_MHTML_REF, [MS-OXCMSG] 2.2.2.18
	name := o.fileName()
	switch inner := o.stream(pidContent, typeObject) + "/"; {
	case r.file.Has(inner + "__properties_version1.0"):
		if !r.files.Admit(cmp.Or(name, "a message")) {
			return nil
		}
		if limit := r.files.Depth(); depth+1 > limit {
			r.files.Missed(name, fmt.Sprintf("messages are nested more than %d deep", max(limit, 0)))
			return nil
		}
		err := r.message(newObject(r.file, inner, embeddedHeader), depth+1)
		return r.files.Refused(cmp.Or(name, "a message"), err)
	case r.file.Has(o.stream(pidContent, typeObject)):
		r.files.Missed(cmp.Or(name, "an object"), "it is an embedded object of another program")
		return nil
	case o.fixed[pidHidden]&1 != 0 || o.fixed[pidFlags]&ofText != 0, !o.has(pidContent, typeBinary):
		return nil
	}
	return r.files.Add(cmp.Or(name, "attachment"), depth+2, func() (io.ReadCloser, error) {
		return io.NopCloser(r.file.Stream(o.stream(pidContent, typeBinary))), nil
	})
}
