package eml

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

const maxPiece = 64 << 10 // bytes of a line that are read at once

// flowed joins the lines of a flowed text (RFC 3676): a line that ends in a space goes on in the next one, unless that
// is quoted less or more. Quoted lines keep one ">" for each time that they are quoted.
type flowed struct {
	r     *bufio.Reader
	delSp bool         // the space at the end of a line that goes on is not text: section 4.1
	out   bytes.Buffer // not read yet
	held  []byte       // the end of a piece: it may be the end of the line
	err   error

	within bool // the last piece didn't end its line
	begun  bool // there was a line
	quoted int  // times that the last line is quoted
	goesOn bool // in the next line
}

// newFlowed returns a text without the line breaks that its writer added, if params say that it has such.
func newFlowed(params map[string]string, r io.Reader) io.Reader {
	if !strings.EqualFold(strings.TrimSpace(params["format"]), "flowed") {
		return r
	}
	delSp := strings.EqualFold(strings.TrimSpace(params["delsp"]), "yes")
	return &flowed{r: bufio.NewReaderSize(r, maxPiece), delSp: delSp}
}

func (f *flowed) Read(p []byte) (int, error) {
	for f.out.Len() == 0 && f.err == nil {
		piece, err := f.r.ReadSlice('\n')
		whole := !errors.Is(err, bufio.ErrBufferFull)
		if whole {
			f.err = err
		}
		if len(f.held) > 0 {
			piece = append(f.held, piece...)
		}
		if len(piece) > 0 {
			f.piece(piece, whole)
		}
	}
	if f.out.Len() == 0 {
		return 0, f.err
	}
	return f.out.Read(p)
}

// piece adds a line, or a piece of a long one. whole reports whether the line ends with it.
func (f *flowed) piece(text []byte, whole bool) {
	f.held = nil
	if whole {
		text = bytes.TrimRight(text, "\r\n")
	} else {
		end := max(len(bytes.TrimRight(text, " \r")), len(text)-len(" \r"))
		f.held = bytes.Clone(text[end:])
		text = text[:end]
	}
	alone := false // the line is neither joined with the one before nor with the next one
	if !f.within {
		quoted, content := unquoted(text)
		text = content
		alone = whole && (len(bytes.TrimSpace(text)) == 0 || string(text) == "-- ") // of a signature: section 4.3
		f.start(quoted, alone, len(text) > 0)
	}
	f.within = !whole
	f.goesOn = whole && !alone && bytes.HasSuffix(text, []byte(" "))
	if f.goesOn && f.delSp {
		text = text[:len(text)-1]
	}
	f.out.Write(text)
}

// start starts a line, if it doesn't continue the one before.
func (f *flowed) start(quoted int, alone, text bool) {
	if f.goesOn && quoted == f.quoted && !alone {
		return
	}
	if f.begun {
		f.out.WriteByte('\n')
	}
	f.begun, f.quoted = true, quoted
	f.out.WriteString(strings.Repeat(">", quoted))
	if quoted > 0 && text {
		f.out.WriteByte(' ')
	}
}

// unquoted returns how many times a line is quoted, and its text. The marks should have no spaces between them, but some
// programs write such. A space before the text only keeps its start from being taken for a mark (section 4.4).
func unquoted(line []byte) (quoted int, text []byte) {
	for len(line) > 0 && line[0] == '>' {
		quoted++
		if line = line[1:]; bytes.HasPrefix(line, []byte(" >")) {
			line = line[1:]
		}
	}
	return quoted, bytes.TrimPrefix(line, []byte(" "))
}
