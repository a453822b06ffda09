package webhook

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"net/url"
)

// Probe resolves a receiver's name, connects under the guard as a delivery would, and for https shakes hands. It sends
// no request. A *RefusedError says that a delivery would be refused.
func Probe(ctx context.Context, guard *Guard, rawURL string) (netip.AddrPort, error) {
	if err := callable(rawURL); err != nil {
		return netip.AddrPort{}, err
	}
	u, err := url.Parse(rawURL)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("read the URL: %w", bare(err))
	}
	check, port := guard.Check, "443"
	if u.Scheme == "http" {
		check, port = guard.CheckPlain, "80"
	}
	if u.Port() != "" {
		port = u.Port()
	}
	transport := guard.Transport(check, nil)
	defer transport.CloseIdleConnections()
	conn, err := transport.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer func() { _ = conn.Close() }() // nothing was sent
	if u.Scheme == "https" {
		if err := tls.Client(conn, &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12}).
			HandshakeContext(ctx); err != nil {
			return netip.AddrPort{}, fmt.Errorf("TLS with the receiver: %w", err)
		}
	}
	return netip.ParseAddrPort(conn.RemoteAddr().String())
}
