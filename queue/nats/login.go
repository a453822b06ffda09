package nats

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/seed-7227ef26/async-worker/internal/natsconn"
	"github.com/seed-7227ef26/async-worker/internal/natsconn/natskey"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// Login says where the servers are, and as whom to connect.
type Login struct {
	// URL holds one or more addresses, separated by commas: nats://, tls:// or ws://HOST:PORT.
	URL string
	// Credentials is the content of a .creds file (a JWT and a seed), or the seed of an NKey (it begins with SU).
	Credentials string
	// User and Password, or Token, for servers that use them.
	User, Password, Token string
	// CA holds the certificates of the authorities that may sign the server's; empty: the system's. Cert and Key are
	// the client's own. All are PEM.
	CA, Cert, Key string
}

// ErrCredentials reports that the credentials are neither a .creds file nor the seed of an NKey.
var ErrCredentials = errors.New("neither the content of a .creds file nor the seed of an NKey")

func (l Login) options() ([]nats.Option, error) {
	var opts []nats.Option
	creds := strings.TrimSpace(l.Credentials)
	switch form, err := natskey.Parse(creds); {
	case err != nil || form == natskey.Token:
		return nil, fmt.Errorf("open the queues: the NATS credentials are %w", ErrCredentials)
	case form == natskey.Seed: // it stays in memory
		public, sign, err := natskey.Pair(creds)
		if err != nil {
			return nil, fmt.Errorf("open the queues: the NATS credentials are %w", ErrCredentials)
		}
		opts = append(opts, nats.Nkey(public, sign))
	case form == natskey.Credentials:
		opts = append(opts, nats.UserCredentialBytes([]byte(creds)))
	}
	if l.User != "" {
		opts = append(opts, nats.UserInfo(l.User, l.Password))
	}
	if l.Token != "" {
		opts = append(opts, nats.Token(l.Token))
	}
	if l.CA == "" && l.Cert == "" {
		return opts, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if l.CA != "" {
		c.RootCAs = x509.NewCertPool()
		c.RootCAs.AppendCertsFromPEM([]byte(l.CA))
	}
	if l.Cert != "" {
		own, err := tls.X509KeyPair([]byte(l.Cert), []byte(l.Key))
		if err != nil {
			return nil, fmt.Errorf("open the queues: the certificate for NATS: %w", err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	return append(opts, nats.Secure(c)), nil
}

// Hosts are the addresses without names and passwords, for logs and errors.
func (l Login) Hosts() string {
	var hosts []string
	for one := range strings.SplitSeq(l.URL, ",") {
		if u, err := url.Parse(strings.TrimSpace(one)); err == nil && u.Host != "" {
			hosts = append(hosts, u.Host)
		}
	}
	return strings.Join(hosts, ", ")
}

// loginRefused returns which refusal of a login err is; nil: none.
func loginRefused(err error) error {
	for _, refused := range []error{
		nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired,
	} {
		if errors.Is(err, refused) {
			return refused
		}
	}
	return nil
}

// explain describes why there is no connection; the client's error may quote the address with its password.
func (l Login) explain(doing string, err error) error {
	if refused := loginRefused(err); refused != nil {
		return &Denied{Doing: doing, Cause: refused}
	}
	if errors.Is(err, natsconn.ErrInbox) {
		return &Denied{Doing: doing, Cause: err, Subject: denialOf(err)}
	}
	return &taskerr.Error{
		Class: taskerr.TransientStorage, Dependency: taskerr.Queues,
		Message: doing + ": there is no connection to NATS at " + l.Hosts(), Cause: err, Hint: hint,
	}
}
