package source

import (
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/blob"
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
	content, err := blob.Decompress(body, open, &encodingError{"sent a body that can't be decompressed"})
	return content, -1, err
}
