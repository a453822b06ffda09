package config

import (
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/httpurl"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// parser reads a non-empty value into a Config. A nil *fault is success.
type parser func(c *Config, text string) *fault

func secret(field func(*Config) *Secret) parser {
	return func(c *Config, s string) *fault {
		*field(c) = NewSecret(s)
		return nil
	}
}

// compiledOnce compiles a pattern at its first use: each command lists the settings, and few parse them.
func compiledOnce(re string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(re) })
}

func pattern(field func(*Config) *string, re, remedy string) parser {
	compiled := compiledOnce(re)
	return named(field, func(s string) bool { return compiled().MatchString(s) }, remedy)
}

func named(field func(*Config) *string, valid func(string) bool, remedy string) parser {
	return func(c *Config, s string) *fault {
		if !valid(s) {
			return &fault{quoted(s) + " is not a valid name", remedy}
		}
		*field(c) = s
		return nil
	}
}

func clientID(c *Config, s string) *fault {
	if task.ValidClientID(s) != nil {
		return &fault{
			quoted(s) + " is not a valid name",
			"use 1 to 28 of a-z, 0-9 and single dashes, beginning and ending with a letter or digit",
		}
	}
	c.ClientID = s
	return nil
}

// dashed is a pattern without two dashes in a row, as Azure demands.
func dashed(field func(*Config) *string, re, remedy string) parser {
	parse := pattern(field, re, remedy)
	return func(c *Config, s string) *fault {
		if strings.Contains(s, "--") {
			return &fault{quoted(s) + " is not a valid name", remedy}
		}
		return parse(c, s)
	}
}

// oneOf accepts the choices in any case. later are values that the documents announce for later versions.
func oneOf(field func(*Config) *string, choices, later []string) parser {
	return func(c *Config, s string) *fault {
		v := strings.ToLower(s)
		switch {
		case slices.Contains(choices, v):
			*field(c) = v
			return nil
		case slices.Contains(later, v):
			return &fault{quoted(v) + " is not in this version yet", "unset it, or set it to " + alternatives(choices)}
		default:
			return &fault{quoted(s) + " is not one of its values", "set it to " + alternatives(choices)}
		}
	}
}

func integer(field func(*Config) *int, lo, hi int) parser {
	return func(c *Config, s string) *fault {
		n, f := number(s, int64(lo), int64(hi), "")
		if f == nil {
			*field(c) = int(n)
		}
		return f
	}
}

// zeroOr reads a number in a range, or 0, which has a meaning of its own.
func zeroOr(field func(*Config) *int, lo, hi int) parser {
	in := integer(field, lo, hi)
	return func(c *Config, s string) *fault {
		if strings.TrimSpace(s) == "0" {
			*field(c) = 0
			return nil
		}
		return in(c, s)
	}
}

const day = 24 * time.Hour

// duration reads a whole number of units.
func duration(field func(*Config) *time.Duration, unit time.Duration, lo, hi int64) parser {
	name := map[time.Duration]string{
		day: "days", time.Hour: "hours", time.Second: "seconds", time.Millisecond: "milliseconds",
	}[unit]
	return func(c *Config, s string) *fault {
		n, f := number(s, lo, hi, name)
		if f == nil {
			*field(c) = time.Duration(n) * unit
		}
		return f
	}
}

func mebibytes(field func(*Config) *int64, lo, hi int64) parser {
	return func(c *Config, s string) *fault {
		n, f := number(s, lo, hi, "MiB")
		if f == nil {
			*field(c) = n << 20
		}
		return f
	}
}

func number(s string, lo, hi int64, unit string) (int64, *fault) {
	remedy := strings.TrimSpace(fmt.Sprintf("set it to a whole number from %d to %d %s", lo, hi, unit))
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil:
		return 0, &fault{quoted(s) + " is not a whole number", remedy}
	case n < lo || n > hi:
		return 0, &fault{fmt.Sprintf("%d is out of range", n), remedy}
	}
	return n, nil
}

// address reads an http(s) URL. Faults never quote the value: it may hold a password.
func address(field func(*Config) *string, example string) parser {
	return func(c *Config, s string) *fault {
		u, err := httpurl.Parse(s)
		remedy := "set it to an address such as " + example
		switch {
		case err != nil:
			return &fault{err.Error(), remedy}
		case u.User != nil:
			return &fault{"it holds a user name or password", remedy + "; keys have settings of their own"}
		case u.RawQuery != "" || u.Fragment != "":
			return &fault{"it has a query or a fragment", remedy}
		}
		*field(c) = strings.TrimRight(s, "/")
		return nil
	}
}

func hostPort(field func(*Config) *string) parser {
	return func(c *Config, s string) *fault {
		remedy := "set it to HOST:PORT, e.g. 127.0.0.1:9090, or :9090 for every interface"
		_, port, err := net.SplitHostPort(s)
		if err != nil {
			return &fault{quoted(s) + " is not an address to listen on", remedy}
		}
		if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
			return &fault{quoted(port) + " is not a port", remedy}
		}
		*field(c) = s
		return nil
	}
}

func prefixes(field func(*Config) *[]netip.Prefix) parser {
	return func(c *Config, s string) *fault {
		var out []netip.Prefix
		for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == ' ' }) {
			p, err := netip.ParsePrefix(part)
			if addr, aerr := netip.ParseAddr(part); err != nil && aerr == nil {
				p, err = addr.Prefix(addr.BitLen())
			}
			if err != nil {
				return &fault{
					quoted(part) + " is not a network",
					"list networks in CIDR notation, separated by commas, e.g. 10.0.0.0/8,fd00::/8",
				}
			}
			out = append(out, p.Masked())
		}
		*field(c) = out
		return nil
	}
}

func levels() []string { return []string{"debug", "info", "warn", "error"} }

func level(c *Config, s string) *fault {
	if !slices.Contains(levels(), strings.ToLower(s)) || c.LogLevel.UnmarshalText([]byte(s)) != nil {
		return &fault{quoted(s) + " is not a level", "set it to " + alternatives(levels())}
	}
	return nil
}

// quoted quotes a value that is not meant to be secret. A value that is long or looks like a URL or a connection
// string was pasted into the wrong place and may hold a secret: only its length is shown.
func quoted(s string) string {
	const most = 32
	if len(s) > most || strings.ContainsAny(s, "=;@") || strings.Contains(s, "://") {
		return fmt.Sprintf("the value (%d bytes)", len(s))
	}
	return strconv.Quote(s)
}

func alternatives(choices []string) string {
	if len(choices) == 1 {
		return choices[0]
	}
	return strings.Join(choices[:len(choices)-1], ", ") + " or " + choices[len(choices)-1]
}

// list reads names separated by commas or spaces that match the pattern after form has set their case.
func list(field func(*Config) *[]string, re string, form func(string) string, remedy string) parser {
	compiled := compiledOnce(re)
	return func(c *Config, s string) *fault {
		var out []string
		for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == ' ' }) {
			if part = form(part); !compiled().MatchString(part) {
				return &fault{quoted(part) + " is not a valid name", remedy}
			}
			if !slices.Contains(out, part) {
				out = append(out, part)
			}
		}
		*field(c) = out
		return nil
	}
}

// folder accepts an absolute path. That it exists is known at its first use.
func folder(field func(*Config) *string) parser {
	return func(c *Config, s string) *fault {
		if !filepath.IsAbs(s) {
			return &fault{quoted(s) + " is not an absolute path", "begin it with /"}
		}
		*field(c) = filepath.Clean(s)
		return nil
	}
}

// certificates accepts PEM with at least one certificate.
func certificates(field *string, s string) *fault {
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(s)) {
		return &fault{"it holds no certificate", "set it to PEM (-----BEGIN CERTIFICATE-----), or name the file"}
	}
	*field = s
	return nil
}
