package object

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Streams inside others, broken ones and ones that are left before their end each give their own bytes, while the decoders
// of those that have ended are used again.
func TestInflaters(t *testing.T) {
	t.Parallel()
	f := &File{size: 1 << 30}
	compress := func(text string) *bytes.Reader {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(b.Bytes())
	}
	read := func(r io.Reader, want string) {
		t.Helper()
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Errorf("%.40q, %v, want %.40q", got, err, want)
		}
		if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("after its end: %d, %v", n, err)
		}
	}
	for i := range 50 {
		outer, inner := strings.Repeat(fmt.Sprint("outer", i), 3000), strings.Repeat(fmt.Sprint("inner", i), 3000)
		r := f.inflate(compress(outer))
		start := make([]byte, 10)
		if _, err := io.ReadFull(r, start); err != nil {
			t.Fatal(err)
		}
		read(f.inflate(compress(inner)), inner)
		read(f.inflate(strings.NewReader("no deflated data")), "")
		read(f.inflate(io.LimitReader(compress("cut"), 5)), "cu") // what was decoded until then counts
		read(r, outer[len(start):])
		left := f.inflate(compress(outer)) // not read to its end
		if _, err := left.Read(start); err != nil {
			t.Fatal(err)
		}
		if len(f.inflaters) > 2 {
			t.Fatalf("%d decoders are free, of at most two at a time", len(f.inflaters))
		}
	}
}
