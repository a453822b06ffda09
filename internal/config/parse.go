package config

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parser reads a non-empty text into a Config. A nil *fault is success.
type parser func(c *Config, text string) *fault

func secret(field func(*Config) *Secret) parser {
	return func(c *Config, s string) *fault {
		*field(c) = NewSecret(s)
		return nil
	}
}

func pattern(field func(*Config) *string, re, remedy string) parser {
	compiled := regexp.MustCompile(re)
	return func(c *Config, s string) *fault {
		if !compiled.MatchString(s) {
			return &fault{quoted(s) + " is not a valid name", remedy}
		}
		*field(c) = s
		return nil
	}
}

// dashed is a pattern in which no two dashes may follow each other, as Azure has it.
func dashed(field func(*Config) *string, re, remedy string) parser {
	parse := pattern(field, re, remedy)
	return func(c *Config, s string) *fault {
		if strings.Contains(s, "--") {
			return &fault{quoted(s) + " is not a valid name", remedy}
		}
		return parse(c, s)
	}
}

// oneOf accepts the choices in any case. later are values that the documents promise for later
// versions.
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

// zeroOr reads a number in a range, or 0, which stands for something else.
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

// address reads an http(s) URL. The text is never repeated: it may hold a password.
func address(field func(*Config) *string, example string) parser {
	return func(c *Config, s string) *fault {
		u, err := url.Parse(s)
		remedy := "set it to an address such as " + example
		switch {
		case err != nil:
			return &fault{"it is not a URL", remedy}
		case u.Scheme != "http" && u.Scheme != "https":
			return &fault{"it does not begin with https:// or http://", remedy}
		case u.Hostname() == "":
			return &fault{"it names no host", remedy}
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

func level(c *Config, s string) *fault {
	choices := []string{"debug", "info", "warn", "error"}
	if !slices.Contains(choices, strings.ToLower(s)) || c.LogLevel.UnmarshalText([]byte(s)) != nil {
		return &fault{quoted(s) + " is not a level", "set it to " + alternatives(choices)}
	}
	return nil
}

// webhookSecrets checks the form of Standard Webhooks 1.0.0 ("whsec_" and base64 of 24-64 bytes) of
// each of the space-separated secrets.
func webhookSecrets(c *Config, s string) *fault {
	remedy := `make one with: echo "whsec_$(openssl rand -base64 32)"; several are separated by a space, the newest first`
	for i, one := range strings.Fields(s) {
		which := "it"
		if i > 0 {
			which = fmt.Sprintf("secret number %d", i+1)
		}
		encoded, found := strings.CutPrefix(one, "whsec_")
		if !found {
			return &fault{which + " does not begin with whsec_", remedy}
		}
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return &fault{which + " is not base64 after whsec_", remedy}
		}
		if len(key) < 24 || len(key) > 64 {
			return &fault{fmt.Sprintf("%s holds %d bytes, not 24 to 64", which, len(key)), remedy}
		}
	}
	c.Webhook.Secret = NewSecret(strings.Join(strings.Fields(s), " "))
	return nil
}

// bearerToken checks the form of RFC 6750, section 2.1, and that nobody guesses it. The text is never repeated.
func bearerToken(c *Config, s string) *fault {
	const remedy, least = "make one with: openssl rand -hex 32", 16
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return &fault{"it holds blanks or characters that no header can carry", remedy}
		}
	}
	if len(s) < least {
		return &fault{fmt.Sprintf("it has %d characters, and is guessed easily", len(s)), remedy}
	}
	c.HTTPToken = NewSecret(s)
	return nil
}

// connectionString checks what both SDK clients ask of it, without ever repeating a part of it.
func connectionString(c *Config, s string) *fault {
	remedy := "copy it whole from the storage account's page \"Access keys\" " +
		"(DefaultEndpointsProtocol=…;AccountName=…;AccountKey=…)"
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimRight(s, ";"), ";") {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return &fault{"a part of it is not Name=Value", remedy}
		}
		parts[key] = value
	}
	switch {
	case strings.EqualFold(parts["UseDevelopmentStorage"], "true"): // internal/azure expands it
	case parts["SharedAccessSignature"] != "":
		if parts["QueueEndpoint"] == "" || parts["BlobEndpoint"] == "" {
			return &fault{"it has a SharedAccessSignature but not both QueueEndpoint and BlobEndpoint", remedy}
		}
	case parts["AccountName"] == "":
		return &fault{"it names no AccountName", remedy}
	case parts["AccountKey"] == "":
		return &fault{"it holds neither AccountKey nor SharedAccessSignature", remedy}
	default:
		if _, err := base64.StdEncoding.DecodeString(parts["AccountKey"]); err != nil {
			return &fault{"its AccountKey is not base64: was it cut off?", remedy}
		}
	}
	c.Azure.ConnectionString = NewSecret(s)
	return nil
}

// databaseURL checks the form only: the driver has the last word. The text is never repeated.
func databaseURL(c *Config, s string) *fault {
	remedy := "set it to postgresql://USER:PASSWORD@HOST:5432/DATABASE (special characters of the password " +
		"percent-encoded)"
	if strings.Contains(s, "://") {
		u, err := url.Parse(s)
		switch {
		case err != nil:
			return &fault{"it is not a URL", remedy}
		case u.Scheme != "postgres" && u.Scheme != "postgresql":
			return &fault{"it does not begin with postgresql://", remedy}
		case u.Hostname() == "" && u.Query().Get("host") == "":
			return &fault{"it names no host", remedy}
		}
	} else if !strings.Contains(s, "=") {
		return &fault{"it is not a Postgres connection string", remedy}
	}
	c.DatabaseURL = NewSecret(s)
	return nil
}

// quoted repeats a value that is not meant to be secret. What is long or looks like a URL or a
// connection string was pasted into the wrong place and is not repeated: it may hold one.
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

// list reads names separated by commas or blanks, each as the pattern has it, in the case that form gives them.
func list(field func(*Config) *[]string, re string, form func(string) string, remedy string) parser {
	compiled := regexp.MustCompile(re)
	return func(c *Config, s string) *fault {
		var out []string
		for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == ' ' }) {
			if part = form(part); !compiled.MatchString(part) {
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
