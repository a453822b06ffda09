package stack

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestPostgres(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]PostgresOptions{"on disk": {}, "in memory": {Memory: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testPostgres(t, o)
		})
	}
}

func testPostgres(t *testing.T, o PostgresOptions) {
	p, err := StartPostgres(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	t.Cleanup(func() {
		if !stopped {
			_ = p.Stop()
		}
	})
	if err := p.CreateDatabase(t.Context(), "a b", "template1"); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), p.URL("a b"))
	if err != nil {
		t.Fatal(err)
	}
	var super bool
	if err := conn.QueryRow(t.Context(), "select rolsuper from pg_roles where rolname = current_user").
		Scan(&super); err != nil || !super {
		t.Errorf("superuser: %v, %v", super, err)
	}
	if err := p.DropDatabase(t.Context(), "a b"); err != nil { // although we are connected
		t.Error(err)
	}
	_ = conn.Close(t.Context())
	if c, err := pgx.Connect(t.Context(), p.URLAs("postgres", "guess", "postgres")); err == nil {
		_ = c.Close(t.Context())
		t.Error("any password will do")
	}
	stopped = true
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(p.dir.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestPostgRESTMissing(t *testing.T) {
	t.Parallel()
	_, err := StartPostgREST(t.Context(), PostgRESTOptions{Root: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "npm ci") {
		t.Errorf("got %v", err)
	}
}

// TestPostgRESTFails: what it says before it ends is in the error.
func TestPostgRESTFails(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "postgrest")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho the configuration is wrong >&2\nexit 1\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	_, err := StartPostgREST(t.Context(), PostgRESTOptions{Binary: script})
	if err == nil || !strings.Contains(err.Error(), "the configuration is wrong") {
		t.Errorf("got %v", err)
	}
}

func TestPostgREST(t *testing.T) {
	t.Parallel()
	db, err := StartPostgres(t.Context(), PostgresOptions{Memory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Stop(); err != nil {
			t.Error(err)
		}
	})
	for range 2 { // idempotent
		if err := SupabaseRoles(t.Context(), db.URL("postgres"), "it's a secret"); err != nil {
			t.Fatal(err)
		}
	}
	const secret = "a secret of tests, of at least 32 characters"
	p, err := StartPostgREST(t.Context(), PostgRESTOptions{
		DatabaseURL: db.URLAs("authenticator", "it's a secret", "postgres"), JWTSecret: secret, Pool: 1,
		OneSession: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	gateway := httptest.NewServer(p.Handler())
	t.Cleanup(func() {
		gateway.Close()
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	key, err := ServiceKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		url, header, value string
		want               int
	}{
		{gateway.URL + "/rest/v1/", "Authorization", "Bearer " + key, http.StatusOK},
		{gateway.URL + "/rest/v1/", "apikey", key, http.StatusOK},
		{gateway.URL + "/rest/v1/", "apikey", key + "x", http.StatusUnauthorized},
		{gateway.URL + "/rest/v1/", "X", "", http.StatusUnauthorized},
		{gateway.URL + "/", "apikey", key, http.StatusNotFound},
		{p.URL() + "/", "Authorization", "Bearer " + key, http.StatusOK},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(c.header, c.value)
		req.Close = true
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s with %s: %d, want %d", c.url, c.header, resp.StatusCode, c.want)
		}
	}
}

func TestTenantKey(t *testing.T) {
	t.Parallel()
	const secret = "a secret of at least 32 characters"
	key, err := TenantKey(secret, "southhaven")
	if err != nil {
		t.Fatal(err)
	}
	claims := jwt.MapClaims{}
	if _, err := jwt.ParseWithClaims(key, claims,
		func(*jwt.Token) (any, error) { return []byte(secret), nil }); err != nil {
		t.Fatal(err)
	}
	if claims["role"] != "async_worker" || claims["client_id"] != "southhaven" {
		t.Errorf("claims: %v", claims)
	}
	if key, err := TenantKey("secret", "southhaven"); err == nil {
		t.Errorf("signed with a short secret: %s", key)
	}
}

// TestPostgresCrash: what a durable server has committed is there after it ended without any order.
func TestPostgresCrash(t *testing.T) {
	t.Parallel()
	p, err := StartPostgres(t.Context(), PostgresOptions{Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := p.exec(t.Context(), "create table t as select 1 as n"); err != nil {
		t.Fatal(err)
	}
	if err := p.Crash(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.exec(t.Context(), "drop table t"); err != nil {
		t.Errorf("after the crash: %v", err)
	}
}

// TestDatabaseInUse: a database to which somebody is connected is copied once nobody is.
func TestDatabaseInUse(t *testing.T) {
	t.Parallel()
	tries := 0
	if err := whenUnused(func() error {
		if tries++; tries < 3 {
			return fmt.Errorf("create: %w", &pgconn.PgError{Code: "55006"})
		}
		return nil
	}); err != nil || tries != 3 {
		t.Errorf("%v after %d tries", err, tries)
	}
	if err := whenUnused(func() error { tries++; return &pgconn.PgError{Code: "42P04"} }); err == nil || tries != 4 {
		t.Errorf("another error: %v after %d tries", err, tries)
	}
}
