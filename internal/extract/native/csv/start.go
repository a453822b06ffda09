package csv

import (
	"bufio"
	"bytes"
	"io"

	"github.com/seed-7227ef26/async-worker/internal/pattern"
)

// hint is a first line that tells Excel the delimiter: punctuation or a tab, which some programs write as \t.
var hint = pattern.New(`^"?(?i:sep)=([\t!#-/:-@\[-` + "`" + `{-~]|\\t)"?(?:\r?\n|$)`)

// hinted consumes the hint and returns its delimiter, or 0 if the file begins with none.
func hinted(input *bufio.Reader) rune {
	start, _ := input.Peek(len("\"sep=\\t\"\r\n")) // the rows report what can't be read
	m := hint.FindSubmatch(start)
	if m == nil {
		return 0
	}
	_, _ = input.Discard(len(m[0])) // what was peeked
	if string(m[1]) == `\t` {
		return '\t'
	}
	return rune(m[1][0])
}

// lineFeeds makes carriage returns line feeds in a file whose lines end with them alone, as old Mac programs write it:
// encoding/csv would read one row.
func lineFeeds(input *bufio.Reader) *bufio.Reader {
	start, _ := input.Peek(sniffBytes) // the rows report what can't be read
	if bytes.IndexByte(start, '\r') < 0 || bytes.IndexByte(start, '\n') >= 0 {
		return input
	}
	return bufio.NewReaderSize(&macLines{r: input}, readBytes)
}

type macLines struct {
	r  io.Reader
	cr bool // the last byte was a carriage return
}

func (m *macLines) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil && len(p) > 0 {
		var read int
		read, err = m.r.Read(p)
		for _, b := range p[:read] {
			second := m.cr && b == '\n' // of a line end of both, which may follow
			if m.cr = b == '\r'; m.cr {
				b = '\n'
			}
			if !second {
				p[n] = b
				n++
			}
		}
	}
	return n, err
}
