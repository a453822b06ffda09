package doctor

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// TestRefusedKey: each cause of a refused key or login has its own remedy, and none is the key to all tenants.
func TestRefusedKey(t *testing.T) {
	t.Parallel()
	for next, err := range map[string]error{
		"SUPABASE_ANON_KEY":                           &store.RefusedError{State: "401", Message: "Invalid API key"},
		"signed with another JWT secret":              &store.RefusedError{State: "PGRST301", Message: "JWSError JWSInvalidSignature"},
		"the key has expired":                         &store.RefusedError{State: "PGRST303", Message: "JWT expired"},
		"no key reached the database":                 &store.RefusedError{State: "PGRST302", Message: "Anonymous access is disabled"},
		"the login and the password in DATABASE_URL":  fmt.Errorf("%w: no such role (28000)", store.ErrLogin),
		"use a key whose claim client_id is acme and": fmt.Errorf("%w: this key belongs to client a", store.ErrForbidden),
	} {
		w := Worker{ClientID: "acme", Skip: all(Store), Store: func(context.Context) (store.Examiner, error) { return nil, err }}
		for _, r := range Examine(t.Context(), w).Results {
			if r.Check != "store" {
				continue
			}
			if r.State != Fail || r.Class != Permission || r.Seen != err.Error() || !strings.Contains(r.Remedy, next) ||
				strings.Contains(r.Remedy, "service-role") {
				t.Errorf("%v: %+v, want %q", err, r, next)
			}
		}
	}
}
