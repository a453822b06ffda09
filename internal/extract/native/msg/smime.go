package msg

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/extract"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
)

// secured returns what was sent of a message of S/MIME ([MS-OXOSMIME]) with a clear signature: a MIME entity, which is its
// only attachment; what else the message has of its text is a copy. It returns nil for a message that is read like others:
// also one whose text is within its signature, which is no attachment that can be read.
func (r *reader) secured(m object) (entity io.Reader, name string, err error) {
	o, ok := r.attached(m, 0)
	if _, more := r.attached(m, 1); !ok || more || !strings.Contains(m.text(pidClass), ".SMIME") {
		return nil, "", nil
	}
	content := bufio.NewReader(r.file.Stream(o.stream(pidContent, typeBinary)))
	head, _ := content.Peek(256) // less of a shorter one
	switch start := bytes.ToLower(head); {
	case bytes.HasPrefix(start, []byte("content-")), bytes.HasPrefix(start, []byte("mime-version:")):
		return content, o.fileName(), nil
	case extract.Encrypted(head):
		return nil, "", extract.ErrEncrypted
	}
	return nil, "", nil
}

// entity reads what was sent: an e-mail without the header of one. If that can't be read, or nothing is in it, the message's
// copy of its text is read.
func (r *reader) entity(m object, content io.Reader, name string, depth int) error {
	path, err := r.files.Save(content)
	if err != nil {
		return err
	}
	src := extract.Source{Path: path, Name: cmp.Or(name, "smime.p7m"), Format: extract.EML}
	empty := true
	info, err := r.files.Read(src, 0, func(b extract.Block) error {
		empty = false
		b.Level = nested.Below(b, depth)
		return r.files.Put(b)
	})
	if depth == 0 {
		r.attachments = info.Properties["attachments"]
	}
	if err == nil && !empty || errors.Is(err, extract.ErrEncrypted) {
		return err
	}
	if err := r.files.Refused(src.Name, err); err != nil {
		return err
	}
	return r.body(m, depth)
}
