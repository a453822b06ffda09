package nats

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/seed-7227ef26/async-worker/internal/natsconn"
	"github.com/seed-7227ef26/async-worker/internal/natsconn/natskey"
)

// login are the options of a connection with a key of one of natskey's forms.
func login(key string) ([]nats.Option, error) {
	key = strings.TrimSpace(key)
	form, err := natskey.Parse(key)
	if err != nil {
		return nil, fmt.Errorf("EVENTS_KEY is %w", err)
	}
	switch form {
	case natskey.Credentials:
		return []nats.Option{nats.UserCredentialBytes([]byte(key))}, nil
	case natskey.Seed:
		public, sign, err := natskey.Pair(key)
		return []nats.Option{nats.Nkey(public, sign)}, err
	case natskey.Token:
		return []nats.Option{nats.Token(key)}, nil
	}
	return nil, nil
}

// connect connects once; a connection that is lost later is made again, for ever. Until then each request fails: what
// is not acknowledged is sent again by the publisher, so the client keeps nothing.
// shared is natsconn.Connect's.
func connect(o Options, opts ...nats.Option) (conn *nats.Conn, shared, err error) {
	conn, shared, err = natsconn.Connect(o.URL, o.Owner, o.Timeout, append([]nats.Option{
		nats.Name("async-worker (events)"), nats.Timeout(o.Timeout), nats.MaxReconnects(-1),
		nats.ReconnectWait(time.Second), nats.ReconnectJitter(500*time.Millisecond, time.Second),
		nats.ReconnectBufSize(-1), nats.PingInterval(10 * time.Second), nats.MaxPingsOutstanding(2),
	}, opts...)...)
	if err != nil {
		for _, known := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrNoServers} {
			if errors.Is(err, known) {
				err = known // the client's error may quote the address with its password
			}
		}
		return nil, nil, fmt.Errorf("connect to NATS at %s: %w", hosts(o.URL), bare(err))
	}
	return conn, shared, nil
}

// hosts are the addresses without names and passwords.
func hosts(addresses string) string {
	var all []string
	for one := range strings.SplitSeq(addresses, ",") {
		if u, err := url.Parse(strings.TrimSpace(one)); err == nil && u.Host != "" {
			all = append(all, u.Host)
		}
	}
	return strings.Join(all, ", ")
}

func bare(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
