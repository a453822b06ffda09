package databaseurl_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/store/databaseurl"
)

// Each error names the part that is wrong, and nothing of the password.
func TestErrors(t *testing.T) {
	t.Parallel()
	garbage := filepath.Join(t.TempDir(), "garbage")
	if err := os.WriteFile(garbage, []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	const u = "postgres://u:TopSecret@h/d?"
	for url, says := range map[string]string{
		u + "sslmode=verify-full&sslrootcert=/nowhere/ca.crt": "the file /nowhere/ca.crt of its sslrootcert does not exist",
		u + "sslcert=/nowhere/c&sslkey=/nowhere/k":            "the file /nowhere/k of its sslkey does not exist",
		u + "sslmode=require&sslrootcert=" + garbage:          "sslrootcert holds no certificate",
		u + "sslmode=require&sslrootcert=" + t.TempDir():      "of its sslrootcert can't be read: is a directory",
		u + "sslcert=" + garbage + "&sslkey=" + garbage:       "sslkey holds no key",
		u + "sslcert=/nowhere/c":                              "only one of sslcert and sslkey",
		u + "sslmode=TopSecret":                               "its sslmode is not one",
		u + "pool_max_conns=TopSecret":                        "its parameter pool_max_conns has",
		u + "pool_max_conns=0":                                "its parameter pool_max_conns has",
		u + "pool_max_conn_lifetime=TopSecret":                "its parameter pool_max_conn_lifetime has",
		u + "default_query_exec_mode=TopSecret":               "its parameter default_query_exec_mode has",
		u + "connect_timeout=TopSecret":                       "its parameter connect_timeout has",
		u + "target_session_attrs=TopSecret":                  "its parameter target_session_attrs has",
		u + "channel_binding=TopSecret":                       "its parameter channel_binding has",
		u + "min_protocol_version=TopSecret":                  "its parameter min_protocol_version has",
		u + "servicefile=/nowhere&service=TopSecret":          "the service that it or PGSERVICE names",
		"postgres://u:TopSecret@h:99999/d":                    "its port is not a number",
		"postgres://u:TopSecret/@h/d":                         "its port is not a number",
		"postgres://u:Top Secret@h/d":                         "not percent-encoded",
		"postgres://u:TopSecret%zz@h/d":                       "not percent-encoded",
		"host=h port=1,2,3 password=TopSecret":                "it has more ports than hosts",
		"host=h password=Top Secret TopSecret user=u":         "not a Postgres connection string",
		"host=h password='TopSecret user=u":                   "not a Postgres connection string",
		"TopSecret":                                           "not a Postgres connection string",
	} {
		_, err := databaseurl.Pool(url)
		e, ok := errors.AsType[*databaseurl.Error](err)
		if !ok || !strings.Contains(e.Problem, says) || e.Remedy == "" {
			t.Errorf("%s: %v, want %q", url, err, says)
			continue
		}
		if strings.Contains(err.Error(), "Secret") || strings.Contains(err.Error(), "postgres://") {
			t.Errorf("it quotes the URL: %v", err)
		}
	}
	if c, err := databaseurl.Conn("host=h user=u pool_max_conns=x"); err != nil || c.Host != "h" {
		t.Errorf("one connection: %v", err)
	}
	if _, err := databaseurl.Conn(u + "sslmode=x"); err == nil {
		t.Error("one connection: no error")
	}
}
