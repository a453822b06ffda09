package cognee

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"time"
)

// request sends one request and decodes a JSON answer with a status of 2xx into answer. If that is nil, any JSON will do, and
// so will an empty answer. For another status the error is problem's, for a failed connection transport's.
func (c *Client) request(
	ctx context.Context, most time.Duration, method string, to *url.URL, body io.Reader, contentType string, answer any,
) error {
	ctx, cancel := context.WithTimeoutCause(ctx, most,
		&Error{kind: failing, what: fmt.Sprintf("Cognee did not answer within %s", most)})
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, to.String(), body)
	if err != nil {
		return fmt.Errorf("cognee: %w", err)
	}
	r.Header.Set("Accept", "application/json")
	if c.o.UserAgent != "" {
		r.Header.Set("User-Agent", c.o.UserAgent)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if c.o.APIKey != "" {
		r.Header.Set("X-Api-Key", c.o.APIKey)
	}
	got, err := c.http.Do(r)
	if err != nil {
		return transport(ctx, err)
	}
	defer func() { _ = got.Body.Close() }() // read-only
	if got.StatusCode/100 != 2 {
		return problem(got)
	}
	raw, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer+1))
	switch {
	case err != nil:
		return transport(ctx, err)
	case len(raw) > maxAnswer:
		return &Error{Status: got.StatusCode, kind: failing, what: fmt.Sprintf("Cognee's answer is longer than %d bytes", maxAnswer)}
	}
	if answer == nil {
		if answer = new(any); len(bytes.TrimSpace(raw)) == 0 {
			return nil
		}
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return &Error{
			Status: got.StatusCode, kind: down,
			what: "what is at COGNEE_URL does not answer as Cognee does; it must be its address, without /api/v1",
		}
	}
	return nil
}

func (c *Client) get(ctx context.Context, to *url.URL, answer any) error {
	return c.request(ctx, quickTimeout, http.MethodGet, to, nil, "", answer)
}

func (c *Client) post(ctx context.Context, most time.Duration, to *url.URL, body, answer any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("cognee: %w", err)
	}
	return c.request(ctx, most, http.MethodPost, to, bytes.NewReader(raw), "application/json", answer)
}

// at is the address of an endpoint.
func (c *Client) at(query url.Values, path ...string) *url.URL {
	to := c.base.JoinPath(append([]string{"api", "v1"}, path...)...)
	to.RawQuery = query.Encode()
	return to
}

// field is one field of a form. A list is several fields with one name.
type field struct{ name, value string }

// upload sends a form with one file, which write writes while it is being sent, so that a large text needs little
// memory. When write fails, the request is broken off before its end, and Cognee takes nothing of it.
func (c *Client) upload(
	ctx context.Context, most time.Duration, method string, to *url.URL, fields []field, name string,
	write func(context.Context, io.Writer) error, answer any,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, pipe := io.Pipe()
	form := multipart.NewWriter(pipe)
	written := make(chan error, 1)
	go func() {
		err := writeForm(ctx, form, fields, name, write)
		_ = pipe.CloseWithError(err) // it never fails
		written <- err
	}()
	err := c.request(ctx, most, method, to, body, form.FormDataContentType(), answer)
	_ = body.Close() // an early answer leaves a rest; it never fails
	cancel()
	if text := <-written; text != nil && !errors.Is(text, io.ErrClosedPipe) && !errors.Is(text, context.Canceled) {
		return text
	}
	return err
}

func writeForm(
	ctx context.Context, form *multipart.Writer, fields []field, name string,
	write func(context.Context, io.Writer) error,
) error {
	for _, f := range fields {
		if err := form.WriteField(f.name, f.value); err != nil {
			return err
		}
	}
	file, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf(`form-data; name="data"; filename=%q`, name)},
		"Content-Type":        {"text/markdown; charset=utf-8"},
	})
	if err != nil {
		return err
	}
	if err := write(ctx, file); err != nil {
		return err
	}
	return form.Close()
}
