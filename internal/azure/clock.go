package azure

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Clock returns the time of a service, in whole seconds. It needs no key, since any response has a Date.
func (c *Credentials) Clock(ctx context.Context, s Service) (time.Time, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.endpoints[s]+"/?comp=list&maxresults=1", nil)
	if err != nil {
		return time.Time{}, fmt.Errorf("request the time: %w", withoutURL(err))
	}
	transport := Transport(1)
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return time.Time{}, withoutURL(err)
	}
	if err := resp.Body.Close(); err != nil {
		return time.Time{}, fmt.Errorf("read the time: %w", err)
	}
	date, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("the response has no valid Date: %w", err)
	}
	return date, nil
}
