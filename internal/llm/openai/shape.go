package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	api "github.com/sashabaranov/go-openai"
)

// ended is an event stream without pieces.
const ended = "data: [DONE]\n\n"

// shape converts a response to what the library understands, whatever its Content-Type: a stream with data lines only;
// an error with a success status gets the status that it names; and an answer in one piece although a stream was
// requested is kept as r.whole.
func (r *record) shape(response *http.Response, body io.Reader) io.Reader {
	if response.StatusCode >= http.StatusBadRequest {
		return body
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/event-stream" {
		return newEvents(body)
	}
	buffered := bufio.NewReaderSize(body, maxProblem)
	switch first, err := firstOf(buffered); {
	case err != nil:
		return failing{err}
	case first != '{' && r.stream:
		return newEvents(buffered)
	case first != '{':
		return buffered
	}
	head, err := buffered.Peek(maxProblem) // an error is smaller
	if errors.Is(err, io.EOF) {
		if refusal := refusalIn(head); refusal != nil {
			response.StatusCode = statusOf(refusal)
			return bytes.NewReader(head)
		}
	}
	if !r.stream {
		return buffered
	}
	if r.whole, err = io.ReadAll(buffered); err != nil {
		r.whole = nil
		return failing{err}
	}
	return strings.NewReader(ended)
}

// firstOf skips white space, which some services send while they work, and returns the next byte; zero for an empty
// body.
func firstOf(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.Peek(1)
		if errors.Is(err, io.EOF) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if !bytes.ContainsAny(b, " \t\r\n") {
			return b[0], nil
		}
		_, _ = r.Discard(1) // it is there
	}
}

// refusalIn returns the error that a JSON response consists of: {"error": …}, or in vLLM's form {"object": "error", …}.
func refusalIn(raw []byte) *api.APIError {
	var answer struct {
		Object string          `json:"object"`
		Error  json.RawMessage `json:"error"`
		Data   []any           `json:"data"`
		// A response with choices is an answer, whatever else it holds.
		Choices []any `json:"choices"`
	}
	if json.Unmarshal(raw, &answer) != nil || len(answer.Choices) > 0 || len(answer.Data) > 0 {
		return nil //nolint:nilerr // a response of another form is not an error
	}
	if answer.Object == "error" {
		answer.Error = raw
	}
	if len(answer.Error) == 0 || string(answer.Error) == "null" {
		return nil
	}
	refusal := new(api.APIError)
	if json.Unmarshal(answer.Error, refusal) != nil {
		refusal.Message = string(answer.Error) // some have a text there
	}
	return refusal
}

// failing is a body that fails to be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
