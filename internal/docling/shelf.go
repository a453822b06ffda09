package docling

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// download writes the task's result to v.path, gzipped, with the options in the comment of the gzip header.
func (v *conversion) download(ctx context.Context) error {
	ctx, cancel := bounded(ctx, resultTimeout)
	defer cancel()
	answer, err := v.Client.request(ctx, http.MethodGet, v.base.JoinPath("v1/result", url.PathEscape(v.state.Task)),
		nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // read-only
	file, err := os.OpenFile(v.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return noRoom(err)
	}
	defer func() { _ = file.Close() }() // a failed close is found below
	packed := gzip.NewWriter(file)
	packed.Comment = v.state.Options
	in := &source{r: io.LimitReader(answer.Body, v.o.MaxResult+1)}
	n, err := io.Copy(packed, in)
	switch {
	case in.err != nil:
		return transport(ctx, in.err)
	case err != nil:
		return noRoom(err)
	case n > v.o.MaxResult:
		return taskerr.Errorf(taskerr.QuotaExceeded,
			"docling made more than %d MB of the document: split it into smaller files", v.o.MaxResult>>20)
	}
	if err := errors.Join(packed.Close(), file.Close()); err != nil {
		return noRoom(err)
	}
	return nil
}

// source keeps an error of the connection apart from one of the disk.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

func noRoom(err error) error {
	return taskerr.Errorf(taskerr.TransientStorage, "the worker can't write its temporary file; is its disk full?: %w",
		err)
}

// decode reads the result at v.path.
func (v *conversion) decode() (*Result, error) {
	file, err := os.Open(v.path)
	if err != nil {
		return nil, fmt.Errorf("docling: open the result: %w", err)
	}
	defer func() { _ = file.Close() }() // read-only
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("docling: open the result: %w", err)
	}
	return ReadResult(unpacked)
}

// keep puts the result on the shelf, so that a retry of this attempt costs nothing. A failure is only logged,
// because the server keeps the result for a while.
func (v *conversion) keep(ctx context.Context) {
	if v.shelf == nil {
		return
	}
	file, err := os.Open(v.path)
	if err == nil {
		defer func() { _ = file.Close() }() // read-only
		err = v.shelf.Put(ctx, v.request.SHA256, file)
	}
	if err != nil {
		v.o.Log.WarnContext(ctx, "docling's result can't be kept; should this attempt fail after five minutes, the "+
			"document is converted again", "error", err)
		return
	}
	v.state.Kept = true
	v.remember()
}

// fromShelf returns the stored result of the same bytes with the same options, or nil if there is none or it
// must not be used. A part of a document is only for the job that has paid for it: another one may have more time for the
// whole. A failing shelf counts as empty.
func (v *conversion) fromShelf(ctx context.Context) *Result {
	if v.shelf == nil || v.request.Fresh && !v.state.Kept {
		return nil
	}
	body, err := v.shelf.Open(ctx, v.request.SHA256)
	if err != nil {
		v.o.Log.WarnContext(ctx, "docling's kept results can't be read", "error", err)
		return nil
	}
	if body == nil {
		return nil
	}
	defer func() { _ = body.Close() }() // read-only
	unpacked, err := gzip.NewReader(body)
	if err != nil || unpacked.Comment != v.state.Options {
		return nil
	}
	r, err := ReadResult(&capped{r: unpacked, left: v.o.MaxResult})
	if err != nil || r.problem() != nil {
		v.o.Log.WarnContext(ctx, "docling's kept result can't be read; the document is converted again", "error", err)
		return nil
	}
	if r.Status == PartialSuccess && !v.state.Kept {
		return nil
	}
	r.Kept = true
	return r
}

// capped returns an error for a stream that is longer than allowed.
type capped struct {
	r    io.Reader
	left int64
}

var errTooLong = errors.New("docling: the result is larger than it may be")

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLong
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
