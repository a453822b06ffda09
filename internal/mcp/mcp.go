// Package mcp serves the agent's read-only tools to assistants, by the Model Context Protocol
// (https://modelcontextprotocol.io/specification): over HTTP, without sessions, or over standard input and output. A
// server has one tenant's documents; no argument of a tool leads to others.
package mcp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-7227ef26/async-worker/handlers/agent"
)

const (
	maxBody = 1 << 20 // of a request over HTTP, and of a line, in bytes
	// maxCalls is how many calls of tools are made at a time; others wait.
	maxCalls = 8
	// CallLimit is the longest time of a call over HTTP, whose response has to be sent within 30 s.
	CallLimit = 20 * time.Second
)

// Server serves the tools.
type Server struct {
	version string
	log     *slog.Logger
	calls   chan struct{} // has an element for each call that is made
}

// New returns a Server. version is the program's.
func New(version string, log *slog.Logger) *Server {
	return &Server{version: version, log: log, calls: make(chan struct{}, maxCalls)}
}

// Handler serves POST requests. reader returns what their callers, whose rights were checked before, may read.
func (s *Server) Handler(reader func(*http.Request) agent.Reader) http.Handler {
	return single(sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server { return s.server(reader(r)) },
		&sdk.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
			// Each request has a token, which a page that reaches loopback under its own name lacks. A proxy on this machine
			// sends the name that its clients use.
			DisableLocalhostProtection: true,
		}))
}

// single refuses batches, which the protocol has had no more since its version 2025-06-18: one request would be
// thousands of calls, and count as one against the limit of its token.
func single(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limited := http.MaxBytesReader(w, r.Body, maxBody)
		body := bufio.NewReader(limited)
		first, err := body.ReadByte()
		for err == nil && strings.IndexByte(" \t\r\n", first) >= 0 {
			first, err = body.ReadByte()
		}
		if err == nil && first == '[' {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":`+
				`"batches are not served: send one message in a request"}}`+"\n") // an error means that the client is gone
			return
		}
		_ = body.UnreadByte() // fails only without a byte
		r.Body = struct {
			io.Reader
			io.Closer
		}{body, limited}
		next.ServeHTTP(w, r)
	})
}

// Run serves one client until it closes in, or ctx is done. Calls that were read before in was closed are answered.
func (s *Server) Run(ctx context.Context, reader agent.Reader, in io.ReadCloser, out io.WriteCloser) error {
	return s.server(reader).Run(ctx, &answering{&sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: maxBody}})
}

// server has the tools of one reader.
func (s *Server) server(reader agent.Reader) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "async-worker", Title: "Documents", Version: s.version},
		&sdk.ServerOptions{
			Instructions: agent.Guide,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}}, // the list never changes
		})
	closed := false
	for _, t := range reader.Tools() {
		server.AddTool(&sdk.Tool{
			Name: t.Name, Description: t.Description, InputSchema: t.Parameters,
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed},
		}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.call(ctx, reader, t.Name, string(r.Params.Arguments)), nil
		})
	}
	return server
}

// What a model reads of a call that failed.
var (
	errGivenUp = errors.New("the call was given up")
	errService = errors.New("a service that this needs does not answer, or refuses; try again later")
)

// call makes a call. What went wrong is in the result, so that the model reads it.
func (s *Server) call(ctx context.Context, reader agent.Reader, tool, arguments string) *sdk.CallToolResult {
	select {
	case s.calls <- struct{}{}:
		defer func() { <-s.calls }()
	case <-ctx.Done():
		return failed(errGivenUp.Error())
	}
	if arguments == "" || arguments == "null" {
		arguments = "{}"
	}
	text, refused, err := reader.Call(ctx, tool, arguments)
	switch {
	case err != nil && ctx.Err() != nil:
		return failed(errGivenUp.Error())
	case err != nil:
		s.log.Warn("a tool failed", "tool", tool, "error", err)
		return failed(errService.Error())
	case refused:
		return failed(text)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

func failed(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: true}
}
