package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/apitoken"
	"github.com/seed-7227ef26/async-worker/internal/natsconn/natskey"
	"github.com/seed-7227ef26/async-worker/internal/tracing/headers"
	"github.com/seed-7227ef26/async-worker/webhook/signing"
)

// webhookSecrets checks the form of each secret; see signing.Keys.
func webhookSecrets(c *Config, s string) *fault {
	const remedy = `make one with: echo "whsec_$(openssl rand -base64 32)"; separate several by spaces, newest first`
	_, err := signing.Keys(s)
	if e, ok := errors.AsType[*signing.SecretError](err); ok {
		which := "it"
		if e.Number > 1 {
			which = fmt.Sprintf("secret number %d", e.Number)
		}
		return &fault{which + " " + e.Problem, remedy}
	}
	c.Webhook.Secret = NewSecret(strings.Join(signing.Split(s), " "))
	return nil
}

// bearerToken checks the form of RFC 6750, section 2.1, and the length. Faults never quote the value.
func bearerToken(c *Config, s string) *fault {
	const remedy, least = "make one with: openssl rand -hex 32", 16
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return &fault{"it holds spaces or characters that a header can't carry", remedy}
		}
	}
	if len(s) < least {
		return &fault{fmt.Sprintf("it has only %d characters, and can be guessed", len(s)), remedy}
	}
	c.HTTPToken = NewSecret(s)
	return nil
}

// apiTokens reads the entries of tokens. Faults never quote one: it may be a token.
func apiTokens(c *Config, s string) *fault {
	tokens, err := apitoken.Parse(s)
	if err != nil {
		return &fault{err.Error(), "make entries with: async-worker token add NAME --scope read --print"}
	}
	c.API.Tokens = tokens
	return nil
}

// jwtSecret checks the length of an HS256 secret (RFC 7518, section 3.2).
func jwtSecret(c *Config, s string) *fault {
	if len(s) < 32 {
		return &fault{"it is shorter than 32 bytes, so tokens could be forged", "use the project's JWT secret as a whole"}
	}
	c.API.JWTSecret = NewSecret(s)
	return nil
}

// origins reads a list of origins of pages.
func origins(c *Config, s string) *fault {
	c.API.AllowOrigins = nil
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		u, err := url.Parse(part)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Scheme+"://"+u.Host != part ||
			strings.Contains(part, "*") {
			return &fault{quoted(part) + " is not an origin", "list origins as browsers send them, e.g. https://app.example.org"}
		}
		c.API.AllowOrigins = append(c.API.AllowOrigins, part)
	}
	return nil
}

// traceHeaders checks the form of a list of headers. Faults never quote one: it may be a key.
func traceHeaders(c *Config, s string) *fault {
	_, unusable, err := headers.Parse(s)
	if err != nil {
		return &fault{
			err.Error(), "set it to NAME=VALUE, several separated by commas; write a comma, a % or another special " +
				"character of a value percent-encoded (%2C, %25)",
		}
	}
	for _, why := range unusable {
		c.warnings = append(c.warnings, Problem{"OTEL_EXPORTER_OTLP_HEADERS", why, "correct it; it is not sent"})
	}
	c.Tracing.Headers = NewSecret(s)
	return nil
}

// natsURL checks the form only: the client decides. Faults never quote the value, which may hold a password.
func natsURL(c *Config, s string) *fault {
	const remedy = "set it to nats://HOST:4222 or tls://HOST:4222; separate several by commas"
	for one := range strings.SplitSeq(s, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		switch {
		case err != nil:
			return &fault{"it is not a URL", remedy}
		case !slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme):
			return &fault{"it begins with neither nats:// nor tls://", remedy}
		case u.Hostname() == "":
			return &fault{"it names no host", remedy}
		}
	}
	c.NATS.URL = NewSecret(s)
	return nil
}

func natsCredentials(c *Config, s string) *fault {
	if form, err := natskey.Parse(s); err != nil || form == natskey.Token {
		return &fault{
			"it is neither the content of a .creds file nor the seed of an NKey",
			"set NATS_CREDS_FILE to the path of the .creds file, or put the file's content into the credential",
		}
	}
	c.NATS.Credentials = NewSecret(s)
	return nil
}
