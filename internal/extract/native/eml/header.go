package eml

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/mail"
	"net/textproto"
	"strings"
	"time"
	"unicode/utf8"

	webcharset "golang.org/x/net/html/charset"

	"github.com/seed-7227ef26/async-worker/internal/extract/charset"
	"github.com/seed-7227ef26/async-worker/internal/extract/native/nested"
	"github.com/seed-7227ef26/async-worker/internal/pattern"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

const (
	maxHeader = 1 << 20 // bytes of a message header
	maxField  = 4 << 10 // bytes of one field as shown
)

type header struct{ textproto.MIMEHeader }

// readHeader reads a message header up to the blank line. Unlike net/mail it skips lines that are not fields,
// such as mbox's initial "From ", as mail programs do.
func readHeader(r *bufio.Reader) (header, error) {
	h := header{textproto.MIMEHeader{}}
	var last string   // the field that a folded line continues
	var folded []byte // its continuation lines
	unfold := func() {
		if values := h.MIMEHeader[last]; len(values) > 0 && len(folded) > 0 {
			values[len(values)-1] += string(folded)
		}
		folded = folded[:0]
	}
	for size := 0; ; {
		line, err := r.ReadSlice('\n')
		if size += len(line); size > maxHeader || errors.Is(err, bufio.ErrBufferFull) {
			return h, taskerr.Errorf(taskerr.CorruptionDetected,
				"the header of the message is larger than %d KB: it is not an e-mail, or it is damaged", maxHeader>>10)
		}
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return h, fmt.Errorf("read the head of a message: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		name, value, found := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0:
			unfold()
			return h, nil
		case line[0] == ' ' || line[0] == '\t':
			folded = append(append(folded, ' '), bytes.TrimSpace(line)...)
		case found && fieldName.Match(name):
			unfold()
			last = textproto.CanonicalMIMEHeaderKey(string(bytes.TrimSpace(name)))
			h.Add(last, string(bytes.TrimSpace(value)))
		default:
			unfold()
			last = ""
		}
		if end {
			unfold()
			return h, nil // no body
		}
	}
}

var fieldName = pattern.New(`^[!-9;-~]+[ \t]*$`)

// text returns a field for display: on one line, with encoded words decoded (RFC 2047).
func (h header) text(name string) string { return show(decodeWords(h.Get(name))) }

// show returns text on one line of bounded length.
func show(text string) string {
	return nested.Shorten(strings.Join(strings.Fields(text), " "), maxField)
}

func wordDecoder() *mime.WordDecoder {
	return &mime.WordDecoder{CharsetReader: func(label string, r io.Reader) (io.Reader, error) {
		label, _, _ = strings.Cut(label, "*") // a language may follow (RFC 2231, section 5)
		return webcharset.NewReaderLabel(label, r)
	}}
}

// decodeWords decodes the encoded words; a word in an unknown encoding stays unchanged.
func decodeWords(text string) string {
	if !utf8.ValidString(text) {
		text = charset.Decode([]byte(text))
	}
	decoded, err := wordDecoder().DecodeHeader(text)
	if err != nil {
		return text
	}
	return decoded
}

// addresses returns a field's mailboxes, for example "Jane Doe <jane@example.com>, …".
func (h header) addresses(name string) string {
	field := strings.Join(h.MIMEHeader[name], ", ")
	parser := mail.AddressParser{WordDecoder: wordDecoder()}
	list, err := parser.ParseList(field)
	if err != nil {
		return show(decodeWords(field))
	}
	all := make([]string, 0, len(list))
	for _, a := range list {
		a.Name = decodeWords(a.Name) // some mailers put encoded words in quotes, where package mail doesn't decode them
		switch {
		case a.Name == "":
			all = append(all, a.Address)
		case strings.ContainsAny(a.Name, `[]()<>@,:;\"`):
			all = append(all, `"`+escapes.Replace(a.Name)+`" <`+a.Address+">")
		default:
			all = append(all, a.Name+" <"+a.Address+">")
		}
	}
	return show(strings.Join(all, ", "))
}

var savedBy = pattern.New(`^[<"]*Saved by [^@]*$`)

// author returns the sender. Browsers put their own name there when they save a page: "<Saved by Blink>".
func (h header) author() string {
	from := h.addresses("From")
	if savedBy.MatchString(from) {
		return ""
	}
	return from
}

// date returns the date in RFC 3339 with the sender's zone, or "" if it is missing or malformed.
func (h header) date() string {
	at, err := mail.ParseDate(h.Get("Date"))
	if err != nil {
		return ""
	}
	return at.Format(time.RFC3339)
}

// contentType returns the media type in lower case and its parameters; the default is text/plain.
func (h header) contentType() (string, map[string]string) {
	return parameters(h.Get("Content-Type"), "text/plain")
}

// attached reports whether a part is meant to be saved, not shown.
func (h header) attached() bool {
	kind, _ := parameters(h.Get("Content-Disposition"), "inline")
	return kind == "attachment"
}

// fileName returns the name that the sender gave to a part, or "".
func (h header) fileName() string {
	_, disposition := parameters(h.Get("Content-Disposition"), "inline")
	_, kind := h.contentType()
	for _, name := range []string{disposition["filename"], kind["name"]} {
		if name = show(decodeWords(name)); name != "" {
			return name[strings.LastIndexAny(name, `/\`)+1:]
		}
	}
	return ""
}

// parameters parses a field such as Content-Type and drops malformed parameters.
func parameters(field, otherwise string) (string, map[string]string) {
	field = toUTF8(field)
	kind, params, err := mime.ParseMediaType(field)
	if err != nil {
		params = loose(field) // package mime returns none if one is malformed
	}
	if err != nil && kind == "" {
		kind, _, _ = strings.Cut(field, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	if kind == "" {
		return otherwise, params
	}
	return kind, params
}

var (
	looseParameter = pattern.New(`;\s*([\w*-]+)\s*=\s*(?:"((?:[^"\\\r\n]|\\.)*)"|([^;\r\n]*))`)
	escapes        = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
)

// loose parses the parameters of a malformed field, for example one with a duplicate or with a value that needs
// quotes and has none: such a value ends at the next semicolon. It quotes all values, so that package mime decodes
// extended parameters (RFC 2231).
func loose(field string) map[string]string {
	var quoted strings.Builder
	seen := map[string]bool{}
	for _, m := range looseParameter.FindAllStringSubmatch(field, -1) {
		name, value := strings.ToLower(m[1]), m[2]+escapes.Replace(strings.Trim(m[3], " \t\""))
		if value != "" && !seen[name] {
			seen[name] = true
			fmt.Fprintf(&quoted, `; %s="%s"`, name, value)
		}
	}
	_, params, _ := mime.ParseMediaType("x/x" + quoted.String()) // every value is a quoted string
	return params
}

var (
	extended = pattern.New(`(?i)\*\s*=\s*"?([\w.:-]+)'[\w-]*'`)
	percents = pattern.New(`(?:%[0-9A-Fa-f]{2})+`)
)

// toUTF8 rewrites extended parameters (RFC 2231) whose encoding package mime does not know.
func toUTF8(field string) string {
	m := extended.FindStringSubmatchIndex(field)
	if m == nil {
		return field
	}
	label := strings.ToLower(field[m[2]:m[3]])
	encoding, _ := webcharset.Lookup(label)
	if encoding == nil || label == "utf-8" || label == "us-ascii" {
		return field
	}
	return field[:m[2]] + "utf-8" + percents.ReplaceAllStringFunc(field[m[3]:], func(run string) string {
		raw := make([]byte, 0, len(run)/3)
		for i := 0; i < len(run); i += 3 {
			raw = append(raw, unhex(run[i+1])<<4|unhex(run[i+2]))
		}
		text, err := encoding.NewDecoder().Bytes(raw)
		if err != nil {
			return run
		}
		var escaped strings.Builder
		for _, b := range text {
			fmt.Fprintf(&escaped, "%%%02X", b)
		}
		return escaped.String()
	})
}
