package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/queue/nats/natstest"
)

// A service that is up and refuses us is a matter of permission, not an outage: starting again won't help.
func TestRefusedByServices(t *testing.T) {
	t.Parallel()
	azurite, database := stacktest.Azurite(t), stacktest.Postgres(t)
	wrongKey := regexp.MustCompile(`AccountKey=[^;]*`).ReplaceAllString(azurite, "AccountKey=d3Jvbmc=")
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("postgres", "wrong")
	for name, c := range map[string]struct{ azurite, database, says, next string }{
		"account key": {wrongKey, database, "403", "check the key, login or role"},
		"password":    {azurite, u.String(), "password authentication failed", "check the login and the password in DATABASE_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := []string{
				"CLIENT_ID=" + stacktest.UniqueName("r"), "AZURE_STORAGE_CONNECTION_STRING=" + c.azurite,
				"DATABASE_URL=" + c.database, "LLM_PROVIDER=offline", "LOG_FORMAT=text",
			}
			var out, errOut bytes.Buffer
			code := Run(t.Context(), []string{"run"}, env, strings.NewReader(""), &out, &errOut)
			result{code, out.String(), errOut.String()}.want(t, exitPermission, c.says, c.next)
		})
	}
}

// TestRefusedKeyHasItsOwnRemedy: each cause of a refused key or login leads to what mends that cause.
func TestRefusedKeyHasItsOwnRemedy(t *testing.T) {
	t.Parallel()
	for next, err := range map[string]error{
		"set SUPABASE_ANON_KEY":                          &store.RefusedError{State: "401", Message: "Invalid API key"},
		"signed with another JWT secret":                 &store.RefusedError{State: "PGRST301", Message: "JWSError JWSInvalidSignature"},
		"the key has expired":                            &store.RefusedError{State: "PGRST303", Message: "JWT expired"},
		"no key reached the database":                    &store.RefusedError{State: "PGRST302", Message: "Anonymous access is disabled"},
		"check the login and the password":               fmt.Errorf("%w: no such role (28000)", store.ErrLogin),
		"use a key whose client_id claim is this CLIENT": fmt.Errorf("%w: this key belongs to client a", store.ErrForbidden),
	} {
		v := verdictOf(&failure{"connect", "is the database up?", err})
		if v.code != exitPermission || !strings.HasPrefix(v.next, next) && !strings.HasPrefix(v.next, "the key was "+next) {
			t.Errorf("%v: exit code %d, what to do: %q, want %q", err, v.code, v.next, next)
		}
	}
}

// TestServicesDown: a worker that does not start names the services that failed, and no other.
func TestServicesDown(t *testing.T) {
	t.Parallel()
	database, nats := stacktest.Postgres(t), natstest.Start(t, nil).URL()
	const noDatabase, noNATS = "postgres://w@127.0.0.1:1/x", "nats://127.0.0.1:1"
	inDatabase := []string{"QUEUE_BACKEND=postgres"}
	onNATS := func(url, subject string) []string {
		return []string{"QUEUE_BACKEND=nats", "NATS_URL=" + url, "NATS_SUBJECT=" + subject}
	}
	subject := stacktest.UniqueName("s")
	env := func(client, database string, queues []string) []string {
		return append(queues, "CLIENT_ID="+client, "DATABASE_URL="+database, "BLOB_BACKEND=dir", "BLOB_DIR="+t.TempDir(),
			"LLM_PROVIDER=offline", "START_MAX_SEC=0")
	}
	run := func(t *testing.T, env []string, command ...string) result {
		var out, errOut bytes.Buffer
		code := Run(t.Context(), command, env, strings.NewReader(""), &out, &errOut)
		return result{code, out.String(), errOut.String()}
	}
	first := env(stacktest.UniqueName("c"), database, onNATS(nats, subject))
	run(t, first, "enqueue", "--type", "ingest", "--payload", `{"filename":"a.txt","document_set":"d"}`).
		want(t, exitOK) // the subject is its own from now on
	const upNATS = "is the NATS server up at 127.0.0.1:1? check NATS_URL"
	const upDatabase = "is the database up at 127.0.0.1:1? check DATABASE_URL"
	for name, c := range map[string]struct {
		database string
		queues   []string
		code     int
		next     string
	}{
		"NATS":                     {database, onNATS(noNATS, subject), exitUnavailable, upNATS},
		"database":                 {noDatabase, inDatabase, exitUnavailable, upDatabase},
		"both":                     {noDatabase, onNATS(noNATS, subject), exitUnavailable, upDatabase + "; " + upNATS},
		"another tenant's subject": {database, onNATS(nats, subject), exitConfig, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, env(stacktest.UniqueName("c"), c.database, c.queues), "run")
			got.want(t, c.code)
			_, next, _ := strings.Cut(strings.Join(strings.Fields(got.errOut), " "), "what to do: ")
			if next != c.next {
				t.Errorf("what to do: %q, want %q; all of it:\n%s", next, c.next, got.errOut)
			}
		})
	}
}

// TestMigrateAsWorker: the worker's login can't migrate, and the error says which login can.
func TestMigrateAsWorker(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]string{
		"empty": stacktest.EmptyPostgres(t), "migrated": stacktest.PostgresWith(t, schema.Options{}),
	} {
		conn, err := pgx.Connect(t.Context(), database)
		if err != nil {
			t.Fatal(err)
		}
		login := strings.ReplaceAll(stacktest.UniqueName("w"), "-", "_")
		_, err = conn.Exec(t.Context(), fmt.Sprintf("create role %s login password 'secret'", login))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _ = conn.Exec(context.Background(), "drop role "+login)
			_ = conn.Close(context.Background())
		})
		u, err := url.Parse(database)
		if err != nil {
			t.Fatal(err)
		}
		u.User = url.UserPassword(login, "secret")
		var out, errOut bytes.Buffer
		code := Run(t.Context(), []string{"migrate"}, []string{"DATABASE_URL=" + u.String()}, strings.NewReader(""), &out,
			&errOut)
		said := result{code, out.String(), errOut.String()}
		if code != exitPermission || !strings.Contains(strings.Join(strings.Fields(said.errOut), " "),
			"use the login of the database's owner") {
			t.Errorf("%s: %+v", name, said)
		}
	}
}
