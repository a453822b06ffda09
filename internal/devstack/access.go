package devstack

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// access is how to call the worker's HTTP API: on this machine alone, with a token of this run.
type access struct {
	addr  string // host:port
	token string
	entry string // what the worker keeps of the token
}

func newAccess() (access, error) {
	port, err := stack.FreePort()
	if err != nil {
		return access{}, err
	}
	token, entry, err := apitoken.New("dev", apitoken.Operate)
	if err != nil {
		return access{}, err
	}
	return access{net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), token, entry.String()}, nil
}

func (a access) url() string { return "http://" + a.addr }

// dashboard returns a link that signs a browser in to the dashboard, once.
func (a access) dashboard(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url()+"/dashboard/link", nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask the worker for a link to its dashboard: %w", err)
	}
	defer resp.Body.Close()
	var link struct {
		Path string `json:"path"`
	}
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask the worker for a link to its dashboard: it answered %s", resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&link); err != nil {
		return "", fmt.Errorf("read the worker's link to its dashboard: %w", err)
	}
	return a.url() + link.Path, nil
}

const linkTimeout = 10 * time.Second

// curl is a command that calls the API, in a shell that has read .dev/env.
func (access) curl() string {
	return `curl -sS "$DEV_API_URL/v1/search" -H "Authorization: Bearer $DEV_API_TOKEN" --json ` +
		`'{"query":"how much is a night in the marina"}'`
}
