package gateway

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/wellformed"
)

// MaxJSON limits an answer in JSON, in bytes: a model has to read it.
const MaxJSON = 8 << 20

// keep writes the answer to its file and checks it on the way. A bad answer is not read to its end.
func (c *Client) keep(a Answer, response *http.Response, call Call) (Answer, error) {
	limit, check := c.o.MaxAnswer, wellformed.XML
	if call.Accept == JSON {
		limit, check = min(limit, MaxJSON), wellformed.JSON
	}
	if got := response.Header.Get("Content-Type"); !isFormat(got, call.Accept) {
		return a, badAnswer("its content type is not %s", call.Accept)
	}
	if response.ContentLength > limit {
		return a, tooLarge(limit)
	}
	file, err := os.OpenFile(call.Into, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return a, ioError("make a file for the answer", err)
	}
	w := &writer{file: bufio.NewWriterSize(file, 128<<10), limit: limit}
	sum := sha256.New()
	err = w.judge(check(io.TeeReader(response.Body, io.MultiWriter(w, sum)), wellformed.Limits{}))
	if err == nil {
		err = asIO("write the answer", w.file.Flush())
	}
	if closeErr := file.Close(); err == nil {
		err = asIO("write the answer", closeErr)
	}
	if err != nil {
		if e := os.Remove(call.Into); e != nil {
			err = errors.Join(err, fmt.Errorf("remove an incomplete answer: %w", e))
		}
		return a, err
	}
	a.Bytes, a.SHA256 = w.n, hex.EncodeToString(sum.Sum(nil))
	return a, nil
}

// isFormat reports whether a content type is that of the format.
func isFormat(contentType string, f Format) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	if f == JSON {
		return kind == string(JSON) || strings.HasSuffix(kind, "+json")
	}
	return kind == string(XML) || kind == "text/xml" || strings.HasSuffix(kind, "+xml")
}

// writer writes at most limit bytes of an answer, and keeps why it stopped.
type writer struct {
	file   *bufio.Writer
	limit  int64
	n      int64
	failed error // of the disk
	over   bool
}

var errStopped = errors.New("the answer is not read on")

func (w *writer) Write(b []byte) (int, error) {
	if w.over = w.n+int64(len(b)) > w.limit; w.over {
		return 0, errStopped
	}
	n, err := w.file.Write(b)
	w.n += int64(n)
	if err != nil {
		w.failed = err
	}
	return n, err
}

// judge converts the result of the check: what stopped the writer precedes what the check makes of it.
func (w *writer) judge(err error) error {
	broken, isBroken := errors.AsType[*wellformed.Error](err)
	switch {
	case w.over:
		return tooLarge(w.limit)
	case w.failed != nil:
		return ioError("write the answer", w.failed)
	case err == nil:
		return nil
	case errors.Is(err, wellformed.ErrEmpty):
		return badAnswer("it is empty")
	case isBroken:
		return badAnswer("%s", broken)
	}
	return unreachable(err)
}
