package app

import (
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// A secret verifies JWTs also without a project; then no issuer is asked for, and the worker's own connection reads.
func TestJWTConfig(t *testing.T) {
	t.Parallel()
	const secret = "a secret of tests, of at least 32 characters"
	for name, c := range map[string]struct {
		url, secret, issuer string
		none                bool
	}{
		"neither":            {none: true},
		"a project":          {url: "https://p.supabase.co/", issuer: "https://p.supabase.co/auth/v1"},
		"with its secret":    {url: "https://p.supabase.co", secret: secret, issuer: "https://p.supabase.co/auth/v1"},
		"a secret by itself": {secret: secret},
	} {
		var settings config.Config
		settings.DatabaseURL = config.NewSecret("postgresql://u@h/d")
		settings.Supabase.URL = c.url
		if c.secret != "" {
			settings.API.JWTSecret = config.NewSecret(c.secret)
		}
		tenant := &Tenant{Config: settings}
		got := tenant.jwtConfig()
		if (got == nil) != c.none || got != nil && (got.Issuer != c.issuer || got.Secret != c.secret) {
			t.Errorf("%s: %+v", name, got)
		}
		if tenant.asCaller() != nil {
			t.Errorf("%s: on a direct connection a JWT opens no store", name)
		}
	}
}
