// Package guard keeps the worker from calling internal addresses in the name of a tenant: of webhooks and of documents
// that are fetched, tenants choose the addresses.
package guard

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
)

// Guard decides which addresses may be called. It checks the resolved address when dialing, which defeats DNS rebinding.
// Any port is allowed.
type Guard struct {
	cfg     Config
	special *ssrf.Guardian // the IANA special-purpose registries and more
}

// Config is what a guard allows and how it explains itself.
type Config struct {
	Allow   []netip.Prefix // networks that may be called although they are private
	Subject string         // of errors, e.g. "the receiver"
	Setting string         // that holds Allow, e.g. WEBHOOK_ALLOW_CIDRS
}

// RefusedError means that an address may not be called. It is permanent.
type RefusedError struct {
	Addr    netip.Addr // for the log; not in the text, which the tenant may read
	Subject string     // e.g. "the receiver"
	Problem string     // e.g. "has a loopback address"; for the operator
	Remedy  string

	private bool // Problem says what a name resolves to
}

func (e *RefusedError) Error() string { return e.Subject + " " + e.Problem + "; " + e.Remedy }

// Public is what the tenant may read: not what sort of address a name leads to here.
func (e *RefusedError) Public() string {
	if e.private {
		return e.Subject + " has an address that may not be called; " + e.Remedy
	}
	return e.Error()
}

// New makes a guard that allows public addresses, over https, and those of the given networks, over http too.
func New(cfg Config) *Guard {
	return &Guard{cfg: cfg, special: ssrf.New(ssrf.WithAnyPort(), ssrf.WithAnyNetwork())}
}

// refuse makes the error of an address.
func (g *Guard) refuse(addr netip.Addr, class string) error {
	return &RefusedError{
		Addr: addr, Subject: g.cfg.Subject, Problem: "has " + class + " address",
		// the same for all classes: a tenant reads it, and nobody should allow the cloud's own addresses
		Remedy: "give a public address; an operator can allow networks of their own in " + g.cfg.Setting, private: true,
	}
}

// Check returns a *RefusedError when an address may not be called.
func (g *Guard) Check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	if inner, wrapped := embedded(addr); wrapped {
		// A translator would take it to the IPv4 address: both must be allowed.
		if err := g.Check(inner); err != nil {
			return err
		}
	}
	if g.allowed(addr) {
		return nil
	}
	if class := class(addr); class != "" {
		return g.refuse(addr, class)
	}
	if g.special.SafeAddr(addr) != nil {
		return g.refuse(addr, "a special-purpose")
	}
	return nil
}

// CheckPlain is Check for http, which only the allowed networks may be called by.
func (g *Guard) CheckPlain(addr netip.Addr) error {
	if err := g.Check(addr); err != nil {
		return err
	}
	if !g.allowed(addr.Unmap().WithZone("")) {
		return &RefusedError{
			Addr: addr, Subject: g.cfg.Subject, Problem: "is to be called by http, which anybody on the way can read",
			Remedy: "use https, or an operator can allow its network in " + g.cfg.Setting,
		}
	}
	return nil
}

func (g *Guard) allowed(addr netip.Addr) bool {
	for _, network := range g.cfg.Allow {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// class names what an operator would call an address that is refused; empty: nothing special.
func class(addr netip.Addr) string {
	for _, c := range []struct{ network, name string }{
		{"169.254.169.254/32", "a cloud metadata service's"},
		{"168.63.129.16/32", "the Azure platform's own"}, // public by its number, but answered by the host
		{"fd00:ec2::254/128", "a cloud metadata service's"},
		{"100.64.0.0/10", "a shared (carrier-grade NAT)"},
		{"64:ff9b::/96", "a NAT64"},
		{"64:ff9b:1::/48", "a NAT64"},
		{"2002::/16", "a 6to4"},
		{"2001::/32", "a Teredo"},
	} {
		if netip.MustParsePrefix(c.network).Contains(addr) {
			return c.name
		}
	}
	switch {
	case addr.IsLoopback():
		return "a loopback"
	case addr.IsPrivate():
		return "a private"
	case addr.IsLinkLocalUnicast():
		return "a link-local"
	case addr.IsUnspecified():
		return "the unspecified"
	case addr.IsMulticast():
		return "a multicast"
	default:
		return ""
	}
}

// embedded returns the IPv4 address inside one of NAT64 (RFC 6052) or 6to4 (RFC 3056).
func embedded(addr netip.Addr) (netip.Addr, bool) {
	b := addr.As16()
	switch {
	case ssrf.IPv6NAT64Prefix.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case netip.MustParsePrefix("2002::/16").Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	default:
		return netip.Addr{}, false
	}
}

// Transport connects under the guard: to allowed addresses only, without a proxy (which would dial in
// our stead). What check, of this guard, lets pass is decided for each connection, not for each name.
func (g *Guard) Transport(check func(netip.Addr) error, resolver *net.Resolver) *http.Transport {
	dialer := &net.Dialer{
		Resolver: resolver,
		Control: func(_, address string, _ syscall.RawConn) error {
			target, err := netip.ParseAddrPort(address)
			if err != nil {
				return fmt.Errorf("read the address to be dialled: %w", err)
			}
			return check(target.Addr())
		},
	}
	return httpurl.Pinging(&http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		DisableCompression:     true, // a kilobyte is a kilobyte
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
	})
}
