package openai

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed-7227ef26/async-worker/internal/llm"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// finishError is how some services (OpenRouter) end a stream that broke off upstream.
const finishError = api.FinishReason("error")

// streamed requests an answer in pieces. A stream that ends without a finish_reason broke off.
func (a *asking) streamed(ctx context.Context, request api.ChatCompletionRequest) (llm.Answer, error) {
	stream, err := a.client.CreateChatCompletionStream(ctx, request)
	if err != nil {
		return llm.Answer{}, err
	}
	defer stream.Close()
	if r, ok := ctx.Value(recordKey{}).(*record); ok && r.whole != nil { // it ignored "stream" and answered in one piece
		var response api.ChatCompletionResponse
		if err := json.Unmarshal(r.whole, &response); err != nil {
			return llm.Answer{}, err
		}
		return a.onePiece(response)
	}
	var got pieces
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return llm.Answer{}, a.broken(ctx, err)
		}
		a.emit(got.add(chunk, a.emitCall))
	}
	if got.finish == "" || got.finish == finishError {
		return llm.Answer{}, a.brokeOff(nil)
	}
	answer := answerOf(got.text.String(), got.refusal.String(), got.calls, got.finish)
	a.bill(&answer, got.usage)
	return answer, nil
}

// pieces are the received parts of an answer.
type pieces struct {
	text, refusal strings.Builder
	calls         []api.ToolCall
	finish        api.FinishReason
	usage         *api.Usage
}

// add adds a chunk, passes the arguments in it to call, and returns its text. Chunks without a choice hold the usage,
// or, on Azure, the content filter's verdict on the prompt; one of the filter may also follow the last piece.
func (p *pieces) add(chunk api.ChatCompletionStreamResponse, call func(tool, piece string)) string {
	if chunk.Usage != nil {
		p.usage = chunk.Usage
	}
	if len(chunk.Choices) == 0 {
		return ""
	}
	choice := chunk.Choices[0]
	if choice.FinishReason != "" && choice.FinishReason != api.FinishReasonNull {
		p.finish = choice.FinishReason
	}
	p.text.WriteString(choice.Delta.Content)
	p.refusal.WriteString(choice.Delta.Refusal)
	for _, piece := range choice.Delta.ToolCalls {
		call(p.addCall(piece), piece.Function.Arguments)
	}
	return choice.Delta.Content
}

// addCall adds a piece of a tool call and returns the tool's name. Its index identifies the call; services that send
// whole calls omit it.
func (p *pieces) addCall(piece api.ToolCall) string {
	at := len(p.calls) - 1
	switch {
	case piece.Index != nil && *piece.Index >= 0 && *piece.Index <= len(p.calls):
		at = *piece.Index
	case at < 0 || piece.ID != "" && piece.ID != p.calls[at].ID:
		at = len(p.calls)
	}
	if at == len(p.calls) {
		p.calls = append(p.calls, api.ToolCall{})
	}
	call := &p.calls[at]
	if piece.ID != "" {
		call.ID = piece.ID
	}
	if call.Function.Name == "" {
		call.Function.Name = piece.Function.Name
	}
	call.Function.Arguments += piece.Function.Arguments
	return call.Function.Name
}

// broken returns the failure of a stream that did not reach its end.
func (a *asking) broken(ctx context.Context, err error) error {
	if refusal, ok := errors.AsType[*api.APIError](err); ok {
		refusal.HTTPStatusCode = statusOf(refusal)
		return refusal
	}
	if ctx.Err() != nil { // told apart by its cause
		return err
	}
	return a.brokeOff(err)
}

// brokeOff may be retried however long the answer has taken so far.
func (a *asking) brokeOff(cause error) *failure {
	return &failure{passing: true, broken: true, err: &taskerr.Error{
		Class: taskerr.DependencyUnavailable, Message: a.names.what + " broke off in the middle of its answer",
		Cause: cause,
	}}
}

// statusOf returns the HTTP status for an error in a stream, which has begun with 200.
func statusOf(refusal *api.APIError) int {
	switch code := refusal.Code.(type) {
	case int:
		if code >= 400 && code < 600 {
			return code
		}
	case string:
		if n, ok := number(code); ok && n >= 400 && n < 600 {
			return int(n)
		}
		switch code {
		case "insufficient_quota", "rate_limit_exceeded":
			return 429
		case "context_length_exceeded", "content_filter":
			return 400
		}
	}
	switch refusal.Type {
	case "insufficient_quota", "tokens", "requests":
		return 429
	case "invalid_request_error", "BadRequestError":
		return 400
	case "overloaded_error":
		return 503
	}
	return 500
}

// events passes on the data lines of a stream of server-sent events. The client library mistakes others, such as the
// comments that keep a connection alive, for parts of an error.
type events struct {
	lines *bufio.Reader
	rest  []byte
	err   error
}

func newEvents(r io.Reader) *events { return &events{lines: bufio.NewReader(r)} }

func (e *events) Read(p []byte) (int, error) {
	for len(e.rest) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		var line []byte
		line, e.err = e.lines.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok {
			e.rest = eventLine(bytes.TrimSpace(data))
		}
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// eventLine writes data in the form in which the library recognizes an error: by its first letters.
func eventLine(data []byte) []byte {
	var line bytes.Buffer
	line.WriteString("data: ")
	if !bytes.Contains(data, []byte(`"error"`)) || json.Compact(&line, data) != nil {
		line.Truncate(len("data: "))
		line.Write(data)
	}
	line.WriteString("\n\n")
	return line.Bytes()
}
