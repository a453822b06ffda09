package stacktest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

// authenticatorPassword is that of the login of PostgREST. The cluster listens on loopback only.
const authenticatorPassword = "authenticator"

// shared is the one cluster of this test process, and the databases that others are copied from.
var shared struct {
	mu        sync.Mutex
	cluster   *stack.Postgres
	err       error
	templates map[schema.Options]string
	databases int
}

// Postgres gives a fresh, migrated database (schema public, 1536 dimensions) on the cluster that the test
// process shares, as the superuser's URL. The database is dropped with the test. Where there is no
// Postgres the test fails: `make test-deps` installs it.
func Postgres(t testing.TB) string { return PostgresWith(t, schema.Options{}) }

// PostgresWith is Postgres with a schema of one's own, e.g. narrow vectors.
func PostgresWith(t testing.TB, o schema.Options) string {
	t.Helper()
	cluster := Cluster(t)
	shared.mu.Lock()
	template, err := templateLocked(cluster, o)
	if err != nil {
		shared.mu.Unlock()
		t.Fatal(err)
	}
	name := nameLocked()
	err = cluster.CreateDatabase(t.Context(), name, template) // one at a time: a template can't be copied twice at once
	shared.mu.Unlock()
	if err != nil {
		t.Fatalf("copy the migrated database: %v", err)
	}
	dropAfter(t, cluster, name)
	return cluster.URL(name)
}

// EmptyPostgres gives a database without any schema, as the superuser's URL.
func EmptyPostgres(t testing.TB) string {
	t.Helper()
	cluster := Cluster(t)
	shared.mu.Lock()
	name := nameLocked()
	err := cluster.CreateDatabase(t.Context(), name, "template1")
	shared.mu.Unlock()
	if err != nil {
		t.Fatalf("create a database: %v", err)
	}
	dropAfter(t, cluster, name)
	return cluster.URL(name)
}

// Cluster is the cluster that the test process shares. Main stops it.
func Cluster(t testing.TB) *stack.Postgres {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.cluster == nil && shared.err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		shared.cluster, shared.err = stack.StartPostgres(ctx, stack.PostgresOptions{Memory: true})
		if shared.err == nil {
			atExit(shared.cluster.Stop)
			// Default privileges belong to a database: every other one is a copy of this one.
			shared.err = stack.SupabaseRoles(ctx, shared.cluster.URL("template1"), authenticatorPassword)
		}
	}
	if shared.err != nil {
		t.Fatalf("this test needs a Postgres with pgvector; `make test-deps` installs it: %v", shared.err)
	}
	return shared.cluster
}

func templateLocked(cluster *stack.Postgres, o schema.Options) (string, error) {
	if name, there := shared.templates[o]; there {
		return name, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	name := "template_" + strconv.Itoa(len(shared.templates))
	if err := cluster.CreateDatabase(ctx, name, "template1"); err != nil {
		return "", fmt.Errorf("create the database that others are copied from: %w", err)
	}
	if _, err := schema.Migrate(ctx, cluster.URL(name), o); err != nil {
		if strings.Contains(err.Error(), "vector") {
			err = fmt.Errorf("%w; `make test-deps` installs pgvector", err)
		}
		return "", fmt.Errorf("migrate the database that others are copied from: %w", err)
	}
	if shared.templates == nil {
		shared.templates = map[schema.Options]string{}
	}
	shared.templates[o] = name
	return name, nil
}

func nameLocked() string {
	shared.databases++
	return "test_" + strconv.Itoa(shared.databases)
}

func dropAfter(t testing.TB, cluster *stack.Postgres, name string) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := cluster.DropDatabase(ctx, name); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
}
