package schema

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestRestoredWithoutRoles: a dump has no roles, and a migrate after its restore can't make their rights.
func TestRestoredWithoutRoles(t *testing.T) {
	t.Parallel()
	err := explain(&pgconn.PgError{Code: "42704", Message: `role "async_worker" does not exist`})
	if !strings.Contains(err.Error(), "after its roles: docs/database.md") {
		t.Errorf("got %v", err)
	}
}
