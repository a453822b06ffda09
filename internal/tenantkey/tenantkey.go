// Package tenantkey makes the keys by which PostgREST identifies a tenant's worker and the readers of its rows: tokens
// signed with the project's JWT secret. That secret can make a key to every tenant.
package tenantkey

import (
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// The roles of a tenant's keys; docs/database.md says what each may do.
const (
	Worker = "async_worker"
	Reader = "async_worker_reader"
)

// MinSecret is the least length of a secret in bytes: the length of an HS256 signature.
const MinSecret = 32

// Claims are the contents of a key.
type Claims struct {
	Role     string
	ClientID string // the tenant; empty: none, which is of use only to roles over all tenants
	Issuer   string // empty: none
	From     time.Time
	Until    time.Time
}

// Sign makes a key.
func Sign(secret string, c Claims) (string, error) {
	if len(secret) < MinSecret {
		return "", fmt.Errorf("the JWT secret is shorter than %d bytes", MinSecret)
	}
	claims := jwt.MapClaims{"role": c.Role, "iat": c.From.Unix(), "exp": c.Until.Unix()}
	if c.ClientID != "" {
		claims["client_id"] = c.ClientID
	}
	if c.Issuer != "" {
		claims["iss"] = c.Issuer
	}
	key, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret))
	if err != nil {
		return "", fmt.Errorf("sign a key: %w", err)
	}
	return key, nil
}
