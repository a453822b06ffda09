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

// again reads the content of the second page until that fails, at most n times.
func again(t *testing.T, n int, dict string, data []byte) (times int) {
	t.Helper()
	file := fmt.Sprintf("%%PDF-1.5\n%s3 0 obj <</Type/Page>> endobj\n4 0 obj <</Type/Page>> endobj\n"+
		"5 0 obj <<%s/Length %d>>stream\n%s\nendstream endobj trailer <</Root 1 0 R>>", tree, dict, len(data), data)
	f, err := object.Open(t.Context(), strings.NewReader(file), int64(len(file)))
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
		_, err = z.Write(bytes.Repeat([]byte(" "), 4<<20)) // nothing, in base 85
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		times int
		dict  string
		data  []byte
	}{
		"two filters": {160, "/Filter[/FlateDecode/ASCII85Decode]", zipped.Bytes()},
		"stored":      {600, "/Filter/ASCII85Decode", bytes.Repeat([]byte(" "), 1<<20)},
		"wide rows":   {300, "/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 1000000>>", []byte("?")},
		"several filters": {
			100, "/Filter[/LZW/LZW/LZW/LZW]/DecodeParms[" + strings.Repeat("<</Predictor 12/Columns 1000000>>", 4) + "]",
			[]byte("?"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := again(t, tt.times, tt.dict, tt.data); n == tt.times {
				t.Errorf("the stream was read %d times", n)
			}
		})
	}
}
