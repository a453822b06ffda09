package docling

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// Probe checks that the server is ready (GET /ready) and accepts the key, by requesting an unknown task.
// Nothing is converted.
func (c *Client) Probe(ctx context.Context) error {
	answer, err := c.request(ctx, http.MethodGet, c.base.JoinPath("ready"), nil)
	if err != nil {
		return err
	}
	_, _ = io.CopyN(io.Discard, answer.Body, statusBytes) // so that the connection can be reused
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
