package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/blob"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// encodingError is a body that can't be decompressed.
type encodingError struct{ problem string }

func (e *encodingError) Error() string { return e.problem }

// decoded returns the body without its Content-Encoding, and its size, if that is known.
func decoded(answer *http.Response, body io.Reader) (io.Reader, int64, error) {
	var open func(io.Reader) (io.Reader, error)
	switch encoding := strings.ToLower(strings.TrimSpace(answer.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
		return body, answer.ContentLength, nil
	case "gzip", "x-gzip":
		open = func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	case "deflate":
		open = func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }
	default:
		return nil, 0, &encodingError{"sent a Content-Encoding that nobody asked for; the worker reads gzip"}
	}
	content, err := decompress(body, open)
	return content, -1, err
}

// decodedBlob is the content of a blob without its Content-Encoding, and its size, if that is known. Uploaders write what
// they like into it: what does not begin as gzip does is left as it is.
func decodedBlob(p blob.Properties, body io.ReadCloser) (content io.ReadCloser, size int64, err error) {
	if encoding := strings.ToLower(strings.TrimSpace(p.Encoding)); encoding != "gzip" && encoding != "x-gzip" {
		return body, p.Size, nil
	}
	buffered := bufio.NewReader(body)
	if mark, _ := buffered.Peek(2); !bytes.Equal(mark, []byte{0x1f, 0x8b}) { // an error comes again with the next read
		return closing{buffered, body.Close}, p.Size, nil
	}
	inner, err := decompress(buffered, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) })
	if err != nil {
		return nil, 0, errors.Join(err, body.Close())
	}
	return closing{inner, body.Close}, -1, nil
}

// damagedBlob is the error of a blob that can't be decompressed.
func damagedBlob() error {
	return taskerr.Errorf(taskerr.CorruptionDetected, "the blob has the Content-Encoding gzip, and can't be decompressed: it "+
		"is damaged, or cut off; upload it again")
}

// decompress reads a body by a decompressor.
func decompress(body io.Reader, open func(io.Reader) (io.Reader, error)) (io.Reader, error) {
	raw := &failing{Reader: body}
	inner, err := open(raw)
	return decompressed{inner, raw}, raw.or(err)
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

// or is the error of the reader, else that the decompressor found.
func (f *failing) or(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF) && f.err == nil:
		return err
	case f.err != nil:
		return f.err
	}
	return &encodingError{"sent a body that can't be decompressed"}
}

type decompressed struct {
	io.Reader
	raw *failing
}

// Read implements io.Reader.
func (d decompressed) Read(b []byte) (int, error) {
	n, err := d.Reader.Read(b)
	return n, d.raw.or(err)
}
