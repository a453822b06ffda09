package devstack

import (
	"net"
	"strconv"

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

// curl is a command that calls the API, in a shell that has read .dev/env.
func (access) curl() string {
	return `curl -sS "$DEV_API_URL/v1/search" -H "Authorization: Bearer $DEV_API_TOKEN" --json ` +
		`'{"query":"how much is a night in the marina"}'`
}
