package devstack

import (
	"bytes"
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
	var link struct {
		Path string `json:"path"`
	}
	if err := a.call(ctx, http.MethodPost, "/dashboard/link", nil, &link); err != nil {
		return "", fmt.Errorf("ask the worker for a link to its dashboard: %w", err)
	}
	return a.url() + link.Path, nil
}

// call calls the worker's HTTP API with the token of this run. in and out may be nil.
func (a access) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	body := []byte(nil)
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, a.url()+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("the API answered %s: %s", resp.Status, text)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

const callTimeout = time.Minute

// curl is a command that calls the API, in a shell that has read .dev/env.
func (access) curl() string {
	return `curl -sS "$DEV_API_URL/v1/search" -H "Authorization: Bearer $DEV_API_TOKEN" \` + "\n" +
		`    --json ` + `'{"query":"how much is a night in the marina"}'`
}
