package object

import (
	"errors"
	"io"
)

// least is what every file may cost, in bytes, however small it is: leastBudget and leastLexed, or less in tests.
type least struct{ decoded, lexed int64 }

// All streams of a file together may take the larger of leastBudget bytes and budgetRatio times the file's size: their
// own bytes, and what each filter decodes, also for the next one. That bounds the time.
const (
	leastBudget = 512 << 20
	budgetRatio = 50 // of the file's size
)

var errBudget = errors.New("the streams of the PDF are too large")

// budgeted counts the bytes that are read.
type budgeted struct {
	io.Reader
	file *File
}

func (b *budgeted) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.file.decoded += int64(n); b.file.decodedAll() {
		return 0, errBudget
	}
	return n, err
}

// decodedAll reports whether no more streams may be decoded.
func (f *File) decodedAll() bool { return f.decoded > max(f.least.decoded, budgetRatio*f.size) }

// All objects of a file together may take as many bytes to read as the sum of leastLexed and lexedRatio times the
// file's size. Otherwise a small file could have a million objects each of which goes on to the file's end.
const (
	leastLexed = 64 << 20
	lexedRatio = 4
	lexerCost  = 512 // bytes, for the start of reading an object
)

var errLexed = errors.New("the objects of the PDF overlap or are too many")

// spend counts bytes that were read to read an object.
func (f *File) spend(bytes int64) { f.lexed += bytes + lexerCost }

// spent reports whether no more objects may be read.
func (f *File) spent() bool { return f.lexed > f.least.lexed+lexedRatio*f.size }
