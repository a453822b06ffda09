package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// probeBytes is how much of the answer to a probe is read, so that the connection can be reused.
const probeBytes = 64 << 10

// Probe asks whether the gateway is up (GET GATEWAY_HEALTH_PATH). It sends no document and costs nothing.
func (c *Client) Probe(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.health, nil)
	if err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	response, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return down(taskerr.NetworkTimeout, CodeTimeout, "is the gateway overloaded?",
				"the gateway did not answer the health check in time")
		}
		return unreachable(err)
	}
	defer func() { _ = response.Body.Close() }() // read-only
	_, _ = io.CopyN(io.Discard, response.Body, probeBytes)
	switch status := response.StatusCode; {
	case status/100 == 2:
		return nil
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return down(taskerr.DependencyUnavailable, Code5XX,
			"set GATEWAY_HEALTH_PATH to the path of the gateway's health check, and GATEWAY_URL to its address without /process",
			"the gateway has no health check there (HTTP %d)", status)
	default:
		return down(taskerr.DependencyUnavailable, Code5XX, "see the gateway's log for the reason",
			"the gateway says that it is not well (HTTP %d)", status)
	}
}
