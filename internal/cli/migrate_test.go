package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// A failed migration says what mends it. That is the address only where the database was not reached.
func TestMigrateSaysWhatMendsIt(t *testing.T) {
	t.Parallel()
	narrow := stacktest.PostgresWith(t, schema.Options{Dimensions: 8})
	newer := stacktest.PostgresWith(t, schema.Options{Dimensions: 8})
	conn, err := pgx.Connect(t.Context(), newer)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), "update public.aw_schema_version set version = version + 1")
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	const address = "check DATABASE_URL"
	for name, c := range map[string]struct {
		url     string
		says    []string
		address bool
	}{
		"another width":  {narrow, []string{"set it to 8"}, false},
		"a newer schema": {newer, []string{"use the newer program"}, false},
		"no server":      {"postgres://postgres@127.0.0.1:1/x", []string{"connection refused"}, true},
	} {
		var out, errOut bytes.Buffer
		code := Run(t.Context(), []string{"migrate"}, []string{"DATABASE_URL=" + c.url}, strings.NewReader(""), &out, &errOut)
		r := result{code, out.String(), strings.Join(strings.Fields(errOut.String()), " ")}
		if code == exitOK || strings.Contains(r.errOut, address) != c.address {
			t.Errorf("%s: %+v", name, r)
		}
		for _, words := range c.says {
			if !strings.Contains(r.errOut, words) {
				t.Errorf("%s: it does not say %q: %+v", name, words, r)
			}
		}
	}
}

// Behind a pooler a migration can't keep its lock: the remedy is another address, and not another way to run statements.
func TestMigrateBehindAPooler(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"42P05", "26000"} {
		if next := nextMigrate(&pgconn.PgError{Code: state}); !strings.Contains(next, "port 5432") || strings.Contains(next, "exec") {
			t.Errorf("%s: %s", state, next)
		}
	}
	if next := nextMigrate(&pgconn.PgError{Code: "53100"}); !strings.Contains(next, "disk") {
		t.Error(next)
	}
}
