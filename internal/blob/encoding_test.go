package blob_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob"
)

// cutOff is a container with one blob in gzip, whose connection breaks.
type cutOff struct {
	blob.Bucket
	content []byte
	closed  bool
}

var errCutOff = errors.New("the connection is cut off")

func (c *cutOff) Open(context.Context, string) (blob.Properties, io.ReadCloser, error) {
	return blob.Properties{Encoding: "gzip"}, c, nil
}

func (c *cutOff) Read(p []byte) (int, error) {
	n := copy(p, c.content)
	if c.content = c.content[n:]; n == 0 {
		return 0, errCutOff
	}
	return n, nil
}

func (c *cutOff) Close() error {
	c.closed = true
	return nil
}

// TestReadBounded: a blob is read until enough of its content is there, however much is packed into it; until then the error
// is the connection's.
func TestReadBounded(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := io.CopyN(w, zeros{}, 16<<20); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	half := packed.Bytes()[:packed.Len()/2]
	for most, want := range map[int64]error{1000: nil, 16 << 20: errCutOff} {
		b := &cutOff{content: half}
		got, err := blob.Read(t.Context(), b, "a", most)
		if !errors.Is(err, want) || err == nil && int64(len(got)) != most || !b.closed {
			t.Errorf("%d of %d bytes, closed %t, %v", len(got), most, b.closed, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
