package postgres_test

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack/leaktest"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/store/postgres"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/store/storetest"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

func TestMain(m *testing.M) { stacktest.Main(m, leaktest.Find) }

func open(t testing.TB, url, client string) store.Store { return openIn(t, url, client, "") }

func openIn(t testing.TB, url, client, in string) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, postgres.Options{
		ClientID: client, Schema: in, Dimensions: storetest.Dimensions, MaxConns: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// conformance runs the suite for stores that share their sessions, as behind a pooler: one tenant's call must leave
// nothing to the next one's.
func conformance(t *testing.T, url, in string, run func(*testing.T, storetest.Open)) {
	t.Helper()
	shared := postgres.Shared(t, url, postgres.Options{Schema: in, Dimensions: storetest.Dimensions, MaxConns: 8})
	run(t, func(_ testing.TB, client string) store.Store { return shared(client) })
}

// TestConformance runs the suite in every query mode that a pooler may need, and in a separate schema.
func TestConformance(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mode, schema string
		run          func(*testing.T, storetest.Open)
	}{
		"prepared statements": {"cache_statement", "", storetest.Run},
		"simple protocol":     {"simple_protocol", "", storetest.RunAgain},
		"exec, own schema":    {"exec", "worker", storetest.RunAgain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions, Schema: c.schema})
			conformance(t, url+"&default_query_exec_mode="+c.mode, c.schema, c.run)
		})
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	storetest.RunModel(t, func(t testing.TB, client string) store.Store { return open(t, url, client) })
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"no URL":         "host=%zz password=SECRET port=x",
		"nobody listens": "postgres://u:SECRET@127.0.0.1:1/d?connect_timeout=1",
		"wrong password": stacktest.Cluster(t).URLAs("postgres", "SECRET", "postgres"),
	} {
		s, err := postgres.Open(t.Context(), url, postgres.Options{ClientID: "a"})
		if err == nil {
			err = s.Check(t.Context())
			s.Close()
		}
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if refused := name == "wrong password"; errors.Is(err, store.ErrLogin) != refused ||
			errors.Is(err, store.ErrForbidden) != refused {
			t.Errorf("%s: %v", name, err)
		} else if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: the password is in the error: %v", name, err)
		}
	}
}

// TestDatabaseComesLater: Open succeeds while the database does not answer. The first calls fail as in an outage, and
// later ones use the worker's role.
func TestDatabaseComesLater(t *testing.T) {
	t.Parallel()
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	name := connect(t, url).Config().Database
	admin := connect(t, stacktest.Cluster(t).URL("postgres"))
	allow := func(what string) {
		t.Helper()
		if _, err := admin.Exec(t.Context(), "alter database "+name+" allow_connections "+what); err != nil {
			t.Fatal(err)
		}
	}
	allow("false")
	s := open(t, url, "a")
	defer s.Close()
	err := s.Check(t.Context())
	if e, ok := errors.AsType[*taskerr.Error](err); !ok || e.Class != taskerr.TransientStorage {
		t.Errorf("while it is down: %v", err)
	}
	allow("true")
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("when it is up: %v", err)
	}
	if e, err := s.Examine(t.Context()); err != nil || e.Role != postgres.Role {
		t.Errorf("role %q, %v", e.Role, err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	migrated := stacktest.PostgresWith(t, schema.Options{Dimensions: storetest.Dimensions})
	super := connect(t, migrated)
	database := super.Config().Database
	stranger := "stranger_" + database
	if _, err := super.Exec(t.Context(), "create role "+stranger+" login password 'x'"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dropRole(t, stranger) })
	for name, c := range map[string]struct {
		url, schema string
		want        error
	}{
		"migrated":          {migrated, "", nil},
		"not migrated":      {stacktest.EmptyPostgres(t), "", store.ErrSchema},
		"no such schema":    {migrated, "elsewhere", store.ErrSchema},
		"without any right": {stacktest.Cluster(t).URLAs(stranger, "x", database), "", store.ErrForbidden},
	} {
		s := openIn(t, c.url, "a", cmp.Or(c.schema, "public"))
		if err := s.Check(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		s.Close()
	}
	if _, err := super.Exec(t.Context(), "update aw_schema_version set version = version - 1"); err != nil {
		t.Fatal(err)
	}
	s := open(t, migrated, "a")
	defer s.Close()
	if err := s.Check(t.Context()); !errors.Is(err, store.ErrSchema) {
		t.Errorf("an older schema: %v", err)
	}
}
