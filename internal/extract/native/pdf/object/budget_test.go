package object_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/extract/native/pdf/object"
)

// small is what a file may cost in tests of what counts, in bytes: the race detector makes each of them slow.
const small = 4 << 20

// again reads the content of the second page until that fails, at most n times. The file may cost small, or as much as
// in production.
func again(t *testing.T, n int, dict string, data []byte, production bool) (times int) {
	t.Helper()
	file := fmt.Sprintf("%%PDF-1.5\n%s3 0 obj <</Type/Page>> endobj\n4 0 obj <</Type/Page>> endobj\n"+
		"5 0 obj <<%s/Length %d>>stream\n%s\nendstream endobj trailer <</Root 1 0 R>>", tree, dict, len(data), data)
	in, size := strings.NewReader(file), int64(len(file))
	f, err := object.OpenWithin(t.Context(), in, size, small, small)
	if production {
		f, err = object.Open(t.Context(), in, size)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, _ := f.Resolve(object.Ref{Object: 5}).(*object.Stream)
	for times < n {
		r, err := f.Reader(s)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		if err != nil {
			break
		}
		times++
	}
	return times
}

// TestStreamsWithoutOutput: the bytes of a stream, what a filter decodes for the next one, and the memory of a predictor
// count, also if nothing comes out in the end. Four filters would unpack a kilobyte to terabytes.
func TestStreamsWithoutOutput(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z, err := flate.NewWriter(&zipped, flate.BestSpeed)
	if err == nil {
		_, err = z.Write(bytes.Repeat([]byte(" "), small/8)) // nothing, in base 85
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		times      int
		dict       string
		data       []byte
		production bool // these are cheap enough for it
	}{
		"two filters": {10, "/Filter[/FlateDecode/ASCII85Decode]", zipped.Bytes(), false},
		"stored":      {75, "/Filter/ASCII85Decode", bytes.Repeat([]byte(" "), small/64), false},
		"wide rows":   {300, "/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 1000000>>", []byte("?"), true},
		"several filters": {
			100, "/Filter[/LZW/LZW/LZW/LZW]/DecodeParms[" + strings.Repeat("<</Predictor 12/Columns 1000000>>", 4) + "]",
			[]byte("?"), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := again(t, tt.times, tt.dict, tt.data, tt.production); n == tt.times {
				t.Errorf("the stream was read %d times", n)
			}
		})
	}
}

// TestLeast: what every file may cost in production, in bytes. The tests of what counts set less.
func TestLeast(t *testing.T) {
	t.Parallel()
	file := tree + "3 0 obj <</Type/Page>> endobj 4 0 obj <</Type/Page>> endobj trailer <</Root 1 0 R>>"
	f, err := object.Open(t.Context(), strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if decoded, lexed := f.Least(); decoded != 512<<20 || lexed != 64<<20 {
		t.Errorf("streams: %d bytes, objects: %d bytes", decoded, lexed)
	}
}
