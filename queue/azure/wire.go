package azure

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
)

// bodyPolicy replaces the SDK's body by the one in the context: none for an update that keeps the text, and one without
// needless escapes for a send (the SDK writes each quote of a JSON text as five bytes).
type bodyPolicy struct{}

type bodyKey struct{}

// withoutBody makes the request have no body.
func withoutBody(ctx context.Context) context.Context {
	return context.WithValue(ctx, bodyKey{}, []byte{})
}

// withBody makes the request send text, which must be storable, as its message.
func withBody(ctx context.Context, text string) context.Context {
	body := xml.Header + "<QueueMessage><MessageText>" + xmlEscaper.Replace(text) + "</MessageText></QueueMessage>"
	return context.WithValue(ctx, bodyKey{}, []byte(body))
}

var xmlEscaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Do implements policy.Policy.
func (bodyPolicy) Do(req *policy.Request) (*http.Response, error) {
	if body, ok := req.Raw().Context().Value(bodyKey{}).([]byte); ok {
		contentType := "application/xml"
		if len(body) == 0 {
			contentType = ""
		}
		if err := req.SetBody(streaming.NopCloser(bytes.NewReader(body)), contentType); err != nil {
			return nil, err
		}
	}
	return req.Next()
}

// wire is the last step before the network. It keeps net/http from resending a dequeue by itself, which it does with a
// GET whose connection breaks before the response, and it makes responses legal XML.
type wire struct{ next http.RoundTripper }

// maxAnswer bounds a response: 32 messages of 64 KiB, each byte escaped.
const maxAnswer = 32 << 20

// RoundTrip implements http.RoundTripper.
func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	messages := req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/messages")
	if messages && req.URL.Query().Get("peekonly") == "" {
		req = req.Clone(req.Context())
		req.Body, req.GetBody = io.NopCloser(strings.NewReader("")), nil // an empty body that net/http can't replay
	}
	resp, err := w.next.RoundTrip(req)
	if err != nil || !messages || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if closeErr := resp.Body.Close(); err == nil {
		err = closeErr
	}
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	if err != nil {
		return nil, err
	}
	body = legalXML(body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// CloseIdleConnections forwards http.Client's call.
func (w wire) CloseIdleConnections() { (&http.Client{Transport: w.next}).CloseIdleConnections() }

// isUnreadable reports whether the response was not XML.
func isUnreadable(err error) bool {
	if err == nil {
		return false
	}
	_, syntax := errors.AsType[*xml.SyntaxError](err)
	return syntax || strings.Contains(err.Error(), "unmarshalling type") // the SDK wraps it as text
}
