package store

import (
	"errors"
	"fmt"
	"strings"
)

// loginError is the type of ErrLogin.
type loginError struct{}

func (loginError) Error() string { return "the database refuses the login" }

// Is makes it an ErrForbidden.
func (loginError) Is(target error) bool { return target == ErrForbidden }

// RefusedError is the ErrForbidden of a key that the API takes from nobody, whatever the tenant.
type RefusedError struct {
	State   string // 401 of a gateway, or PGRST…
	Message string // of the API: it has no part of the key
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the database refuses the key: %s (%s)", e.Message, e.State)
}

// Is makes it an ErrForbidden.
func (*RefusedError) Is(target error) bool { return target == ErrForbidden }

// NextLogin is what to do about ErrLogin.
const NextLogin = "check the login and the password in DATABASE_URL; if they are right, the server's pg_hba.conf does not " +
	"let this login in from here"

const newKey = "make a new key (async-worker token sign --role worker --expires 365d; docs/database.md) and set SUPABASE_KEY"

// Next is what to do about it.
func (e *RefusedError) Next() string {
	message := strings.ToLower(e.Message)
	switch {
	case e.State == "401":
		return "set SUPABASE_ANON_KEY to the project's anon or publishable key, or check SUPABASE_KEY and SUPABASE_URL"
	case e.State == "PGRST302":
		return "no key reached the database: check SUPABASE_KEY, and that no proxy removes the header Authorization"
	case strings.Contains(message, "expired"):
		return "the key has expired: " + newKey + "; or check the database's clock"
	case strings.Contains(message, "audience"):
		return "the database's API demands another audience (its jwt-aud) than the key has: make a key with that aud claim"
	case e.State == "PGRST303", strings.Contains(message, "future"), strings.Contains(message, "not yet"),
		strings.Contains(message, "notyet"):
		return newKey + "; or check the clocks of the database and of the machine that made the key"
	case strings.Contains(message, "3 parts"):
		return "the key is not a JWT: " + newKey
	}
	return "the key was signed with another JWT secret than the database's: " + newKey + "; or check SUPABASE_URL"
}

// NextForbidden is what to do about an ErrForbidden: what mends a key or login that is refused for every tenant, else
// what the caller says.
func NextForbidden(err error, otherwise string) string {
	if e, ok := errors.AsType[*RefusedError](err); ok {
		return e.Next()
	}
	if errors.Is(err, ErrLogin) {
		return NextLogin
	}
	return otherwise
}
