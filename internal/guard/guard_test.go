package guard_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/guard"
)

func prefixes(list ...string) []netip.Prefix {
	var out []netip.Prefix
	for _, s := range list {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}

func hooks(allow []netip.Prefix) *guard.Guard {
	return guard.New(guard.Config{Allow: allow, Subject: "the receiver", Setting: "WEBHOOK_ALLOW_CIDRS"})
}

// Without pings, a connection that a firewall forgot would be used for a quarter of an hour; see httpurl.
func TestTransportPings(t *testing.T) {
	t.Parallel()
	g := hooks(nil)
	if c := g.Transport(g.Check, nil).HTTP2; c == nil || c.SendPingTimeout == 0 {
		t.Error("the transport does not ask silent connections whether they are alive")
	}
}

func TestGuardRefuses(t *testing.T) {
	t.Parallel()
	g := hooks(nil)
	for addr, class := range map[string]string{
		"127.0.0.1": "loopback", "127.255.255.254": "loopback", "::1": "loopback",
		"10.0.0.1": "private", "172.16.0.1": "private", "172.31.255.255": "private", "192.168.1.1": "private",
		"fd12:3456::1": "private", "fc00::1": "private",
		"169.254.1.1": "link-local", "fe80::1": "link-local", "fe80::1%eth0": "link-local",
		"169.254.169.254": "metadata", "fd00:ec2::254": "metadata", "168.63.129.16": "Azure",
		"0.0.0.0": "unspecified", "::": "unspecified", "0.1.2.3": "special-purpose",
		"100.64.0.1": "shared", "100.100.100.200": "shared",
		"224.0.0.1": "multicast", "ff02::1": "multicast",
		"192.0.0.1": "special-purpose", "192.0.2.1": "special-purpose", "192.88.99.1": "special-purpose",
		"198.18.0.1": "special-purpose", "198.51.100.1": "special-purpose", "203.0.113.1": "special-purpose",
		"240.0.0.1": "special-purpose", "255.255.255.255": "special-purpose",
		"::ffff:127.0.0.1": "loopback", "::ffff:10.1.2.3": "private", "::ffff:169.254.169.254": "metadata",
		"::ffff:168.63.129.16": "Azure", "::127.0.0.1": "special-purpose",
		"64:ff9b::7f00:1": "loopback", "64:ff9b::a9fe:a9fe": "metadata", "64:ff9b::808:808": "NAT64",
		"64:ff9b:1::808:808": "NAT64",
		"2002:7f00:1::":      "loopback", "2002:a83f:8110::1": "Azure", "2002:808:808::1": "6to4",
		"2001::1": "Teredo", "2001:db8::1": "special-purpose", "3fff::1": "special-purpose",
		"100::1": "special-purpose", "5f00::1": "special-purpose", "fec0::1": "special-purpose",
		"4000::1": "special-purpose",
	} {
		err := g.Check(netip.MustParseAddr(addr))
		refused, ok := errors.AsType[*guard.RefusedError](err)
		if !ok || !strings.Contains(refused.Problem, class) || !strings.Contains(err.Error(), "WEBHOOK_ALLOW_CIDRS") {
			t.Errorf("%s: got %v, want it refused as %s", addr, err, class)
			continue
		}
		if strings.Contains(err.Error(), addr) && len(addr) > 4 {
			t.Errorf("%s: the error, which a tenant may read, names it: %v", addr, err)
		}
	}
}

func TestGuardAllows(t *testing.T) {
	t.Parallel()
	g := hooks(prefixes("10.1.0.0/16", "fd00::/64", "64:ff9b::/96", "168.63.129.16/32"))
	for addr, want := range map[string]bool{
		"8.8.8.8": true, "168.63.129.15": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true, "172.32.0.1": true,
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.1": false, "127.0.0.1": false,
		"fd00::1": true, "fd00:0:0:1::1": false, "168.63.129.16": true,
		// An operator of an IPv6-only network allows NAT64, but not every address behind it.
		"64:ff9b::808:808": true, "64:ff9b::a01:203": true, "64:ff9b::7f00:1": false, "64:ff9b::a02:1": false,
	} {
		if err := g.Check(netip.MustParseAddr(addr)); (err == nil) != want {
			t.Errorf("%s: got %v", addr, err)
		}
	}
	for addr, want := range map[string]bool{
		"8.8.8.8": false, "2606:4700::1111": false, "10.1.2.3": true, "::ffff:10.1.2.3": true, "127.0.0.1": false,
	} {
		if err := g.CheckPlain(netip.MustParseAddr(addr)); (err == nil) != want {
			t.Errorf("http to %s: got %v", addr, err)
		}
	}
}
