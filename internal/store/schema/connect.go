package schema

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// DefaultConnectWait is how long a server may take to accept the login, unless DATABASE_URL has a connect_timeout.
const DefaultConnectWait = 30 * time.Second

// answerGrace is how long it may take without a warning.
const answerGrace = 3 * time.Second

// UnansweredError says that a server, or a firewall before it, let a connection hang.
type UnansweredError struct {
	Address string
	Waited  time.Duration
}

func (e *UnansweredError) Error() string {
	return fmt.Sprintf("the database at %s did not answer within %v", e.Address, e.Waited)
}

// connect logs in. pgx itself waits without end for a server that takes the connection and says nothing.
func connect(ctx context.Context, url string, o Options) (*pgx.Conn, error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	if o.Log != nil {
		defer time.AfterFunc(answerGrace, func() {
			o.Log.Warn("the database has not answered yet", "waited", answerGrace, "address", address, "setting", "DATABASE_URL")
		}).Stop()
	}
	if c.ConnectTimeout > 0 { // of each address that the host has
		return pgx.ConnectConfig(ctx, c)
	}
	wait := cmp.Or(o.ConnectWait, DefaultConnectWait)
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conn, err := pgx.ConnectConfig(limited, c)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, &UnansweredError{address, wait}
	}
	return conn, err
}
