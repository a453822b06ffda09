package blob

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Read returns the content of a small blob without its Content-Encoding, and of a larger one the first bytes.
func Read(ctx context.Context, b Bucket, name string, most int64) ([]byte, error) {
	p, body, err := b.Open(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("open the blob: %w", err)
	}
	content, _, err := Unpacked(p, body)
	if err != nil {
		return nil, fmt.Errorf("unpack the blob: %w", err)
	}
	defer content.Close()
	all, err := io.ReadAll(io.LimitReader(content, most))
	if err != nil {
		return nil, fmt.Errorf("read the blob: %w", err)
	}
	return all, nil
}

// Unpacked is the content of a blob without its Content-Encoding, and its size, if that is known. Uploaders write what
// they like into it: what does not begin as gzip does is left as it is.
func Unpacked(p Properties, body io.ReadCloser) (content io.ReadCloser, size int64, err error) {
	if encoding := strings.ToLower(strings.TrimSpace(p.Encoding)); encoding != "gzip" && encoding != "x-gzip" {
		return body, p.Size, nil
	}
	buffered := bufio.NewReader(body)
	if mark, _ := buffered.Peek(2); !bytes.Equal(mark, []byte{0x1f, 0x8b}) { // an error comes again with the next read
		return closing{buffered, body}, p.Size, nil
	}
	inner, err := Decompress(buffered, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		taskerr.Errorf(taskerr.CorruptionDetected, "the blob has the Content-Encoding gzip, and can't be decompressed: it "+
			"is damaged, or cut off; upload it again"))
	if err != nil {
		return nil, 0, errors.Join(err, body.Close())
	}
	return closing{inner, body}, -1, nil
}

// closing reads from one and closes the other.
type closing struct {
	io.Reader
	io.Closer
}

// Decompress reads a body by a decompressor. What that finds wrong is damaged; an error of the body stays.
func Decompress(body io.Reader, open func(io.Reader) (io.Reader, error), damaged error) (io.Reader, error) {
	raw := &failing{Reader: body}
	inner, err := open(raw)
	d := decompressed{inner, raw, damaged}
	return d, d.or(err)
}

// failing remembers the error of a reader below a decompressor.
type failing struct {
	io.Reader
	err error
}

func (f *failing) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

type decompressed struct {
	io.Reader
	raw     *failing
	damaged error
}

// Read implements io.Reader.
func (d decompressed) Read(b []byte) (int, error) {
	n, err := d.Reader.Read(b)
	return n, d.or(err)
}

// or is the error of the body, else that the decompressor found.
func (d decompressed) or(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF) && d.raw.err == nil:
		return err
	case d.raw.err != nil:
		return d.raw.err
	}
	return d.damaged
}
