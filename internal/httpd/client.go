package httpd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// Client sends requests to a worker's server. One of Socket and Addr is set.
type Client struct {
	Socket string
	Addr   string // HOST:PORT
	Token  string // for Addr; may be empty
	// Timeout is that of the whole request; zero: 10 s.
	Timeout time.Duration
}

const (
	askLimit  = 10 * time.Second
	maxAnswer = 4 << 20 // bytes
)

// StatusError is a response with an unexpected status.
type StatusError struct{ Code int }

func (e *StatusError) Error() string {
	return fmt.Sprintf("the worker answered %d %s", e.Code, http.StatusText(e.Code))
}

// HungError reports a server that has accepted the connection, and does not answer.
type HungError struct{ Waited time.Duration }

func (e *HungError) Error() string {
	return fmt.Sprintf("it accepts connections, and did not answer within %v", e.Waited)
}

// Get decodes the JSON at a path into answer.
func (c Client) Get(ctx context.Context, path string, answer any) error {
	wait := cmp.Or(c.Timeout, askLimit)
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var connected atomic.Bool
	err := c.get(httptrace.WithClientTrace(within, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}), path, answer)
	if err != nil && connected.Load() && ctx.Err() == nil && errors.Is(within.Err(), context.DeadlineExceeded) {
		return &HungError{wait}
	}
	return err
}

func (c Client) get(ctx context.Context, path string, answer any) error {
	transport := &http.Transport{DisableKeepAlives: true}
	host := c.Addr
	if c.Socket != "" {
		host = "localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", c.Socket)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("request to %s: %w", host, err)
	}
	if c.Token != "" && c.Socket == "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := (&http.Client{
		Transport: transport,
		// the token must not leave for another host
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}).Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return &StatusError{resp.StatusCode}
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("the response is not a worker's: %w", err)
	}
	return nil
}

// WriteJSON writes a response of one JSON value.
func WriteJSON(w http.ResponseWriter, v any) {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, "the response can't be encoded as JSON; please report it", http.StatusInternalServerError)
		return
	}
	plain(w)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(raw, '\n')) // an error means that the client is gone
}
