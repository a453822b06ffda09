package docling

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// Probe asks whether the server is ready (GET /ready), and whether it takes the key: by asking for a task that it
// doesn't know. Nothing is converted.
func (c *Client) Probe(ctx context.Context) error {
	answer, err := c.request(ctx, http.MethodGet, c.base.JoinPath("ready"), nil)
	if err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, answer.Body, statusBytes) // so that the connection serves the next request
	_ = answer.Body.Close()
	answer, err = c.request(ctx, http.MethodGet, c.base.JoinPath("v1/status/poll", "doctor"), nil)
	if errors.Is(err, errUnknownTask) {
		return nil
	}
	if err != nil {
		return err
	}
	return answer.Body.Close()
}
