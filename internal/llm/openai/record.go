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
	status int // zero: no answer came
	header http.Header
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
	if record, ok := request.Context().Value(recordKey{}).(*record); ok {
		record.status, record.header = response.StatusCode, response.Header
	}
	limit := int64(maxAnswer)
	if response.StatusCode >= http.StatusBadRequest {
		limit = maxProblem
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, limit), response.Body}
	return response, nil
}
