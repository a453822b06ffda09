package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// errTimeout is the cause of a call that took longer than Options.Timeout.
var errTimeout = errors.New("the gateway did not answer in time")

// expectBytes is the size from which on a file is sent only after the gateway has not refused its headers.
const expectBytes = 1 << 20

// Process sends a file and stores the checked answer. It makes one request and never repeats it. Errors: a
// *taskerr.Error with code GW_4XX, GW_5XX, GW_TIMEOUT or IO_ERROR, or context.Cause. Of a failed call no file is left.
func (c *Client) Process(ctx context.Context, call Call) (Answer, error) {
	began := time.Now()
	bounded, cancel := context.WithTimeoutCause(ctx, c.o.Timeout, errTimeout)
	defer cancel()
	answer, err := c.call(bounded, call)
	answer.Took = time.Since(began)
	if ctx.Err() != nil && err != nil {
		c.o.OnCall("canceled", answer.Took)
		return answer, context.Cause(ctx)
	}
	if err == nil {
		c.o.OnCall("ok", answer.Took)
		return answer, nil
	}
	if errors.Is(context.Cause(bounded), errTimeout) {
		if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Code != CodeIO {
			err = c.late()
		}
	}
	failure := taskerr.Classify(err)
	c.o.OnCall(failure.Code, answer.Took)
	return answer, failure
}

func (c *Client) call(ctx context.Context, call Call) (a Answer, err error) {
	f, err := openForm(call)
	if err != nil {
		return a, err
	}
	defer f.close()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.process, f)
	if err != nil {
		return a, fmt.Errorf("gateway: %w", err)
	}
	r.ContentLength = f.size
	r.Header.Set("Content-Type", f.contentType)
	r.Header.Set("Accept", string(call.Accept))
	if f.size >= expectBytes {
		r.Header.Set("Expect", "100-continue")
	}
	response, err := c.http.Do(r)
	if read := f.failed(); read != nil {
		if err == nil {
			_ = response.Body.Close() // the request was not whole
		}
		return a, ioError("read the file to send", read)
	}
	if err != nil {
		return a, unreachable(err)
	}
	defer func() { _ = response.Body.Close() }() // read-only
	a.Status = response.StatusCode
	if response.StatusCode != http.StatusOK {
		return a, refusal(response)
	}
	return c.keep(a, response, call)
}

// form is the body of a request: the fields, and the file between them, streamed from the disk.
type form struct {
	io.Reader
	file        *counted
	contentType string
	size        int64
}

// counted reads a file and keeps its error, which the HTTP client would report as one of the connection. The client may
// still read it after an early answer.
type counted struct {
	file *os.File

	mu   sync.Mutex
	left int64
	err  error
}

func (c *counted) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 {
		return 0, io.EOF
	}
	n, err := c.file.Read(b[:min(int64(len(b)), c.left)])
	c.left -= int64(n)
	if errors.Is(err, io.EOF) && c.left > 0 {
		err = io.ErrUnexpectedEOF // the file became shorter
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = err
	}
	return n, err
}

func openForm(call Call) (*form, error) {
	file, err := os.Open(call.Path)
	if err != nil {
		return nil, ioError("open the file to send", err)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close() // nothing was written
		return nil, ioError("look at the file to send", err)
	}
	var text bytes.Buffer
	w := multipart.NewWriter(&text)
	fields := [][2]string{{"mapping", call.Mapping}}
	if call.Pretty {
		fields = append(fields, [2]string{"pretty", "1"})
	}
	for _, f := range fields {
		err = errors.Join(err, w.WriteField(f[0], f[1]))
	}
	_, partErr := w.CreatePart(filePart(call.Format))
	head := text.Len()
	if err = errors.Join(err, partErr, w.Close()); err != nil {
		_ = file.Close() // nothing was written
		return nil, fmt.Errorf("gateway: write the form: %w", err)
	}
	content := &counted{file: file, left: info.Size()}
	return &form{
		Reader:      io.MultiReader(bytes.NewReader(text.Bytes()[:head]), content, bytes.NewReader(text.Bytes()[head:])),
		file:        content,
		contentType: w.FormDataContentType(), size: int64(text.Len()) + info.Size(),
	}, nil
}

// filePart is the header of the part with the file. Its name says nothing of the document.
func filePart(f Format) textproto.MIMEHeader {
	name := "document.pdf"
	if f == JSON {
		name = "document.json"
	}
	return textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="` + name + `"`},
		"Content-Type":        {string(f)},
	}
}

// failed returns the error of reading the file; nil: none.
func (f *form) failed() error {
	f.file.mu.Lock()
	defer f.file.mu.Unlock()
	return f.file.err
}

func (f *form) close() { _ = f.file.file.Close() } // it is only read
