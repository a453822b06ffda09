// Package tenantkey makes the keys with which PostgREST knows a tenant's worker, and who reads its rows: tokens that
// are signed with the project's JWT secret. Whoever has that secret can make a key to all tenants.
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

// MinSecret is how long a secret has to be, in bytes: as long as what HS256 makes of it.
const MinSecret = 32

// Claims are what a key says.
type Claims struct {
	Role     string
	ClientID string // the tenant; empty: none, and only a role that may be of every tenant reaches anything
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
