package openai

import (
	"context"
	"io"
	"net/http"

	api "github.com/sashabaranov/go-openai"
)

// The most that is read of an answer: 256 vectors of 4096 numbers are 6 MB in base64, 25 in decimals.
const (
	maxAnswer  = 64 << 20
	maxProblem = 64 << 10
)

// record is what the client library drops of an answer: it loses the headers of errors, and of
// answers in base64.
type record struct {
	host   string // that answered
	status int    // zero: no answer came
	header http.Header
	stream bool                                 // a stream was asked for
	whole  []byte                               // the answer, when it came in one piece although a stream was asked for
	begun  func(status int, header http.Header) // called when the headers have arrived
	alive  func()                               // called whenever a part of the answer arrives; may be nil
}

type recordKey struct{}

func withRecord(ctx context.Context) (context.Context, *record) {
	r := new(record)
	return context.WithValue(ctx, recordKey{}, r), r
}

// recorder is an HTTP client that fills the record in a request's context and bounds the answer.
type recorder struct {
	client api.HTTPDoer
}

func (r recorder) Do(request *http.Request) (*http.Response, error) {
	response, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	record, _ := request.Context().Value(recordKey{}).(*record) // every request of this package has one
	limit := int64(maxAnswer)
	if response.StatusCode >= http.StatusBadRequest {
		limit = maxProblem
	}
	body := io.LimitReader(response.Body, limit)
	if record.alive != nil {
		body = &notifyingReader{body, record.alive}
	}
	body = record.shape(response, body)
	record.host, record.status, record.header = request.URL.Host, response.StatusCode, response.Header
	record.begun(record.status, record.header)
	response.Body = struct {
		io.Reader
		io.Closer
	}{body, response.Body}
	return response, nil
}

// notifyingReader calls alive after each read.
type notifyingReader struct {
	io.Reader
	alive func()
}

func (l *notifyingReader) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if n > 0 {
		l.alive()
	}
	return n, err
}
