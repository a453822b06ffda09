package schema_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
)

func TestMain(m *testing.M) { stacktest.Main(m) }

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func TestMigrateTwice(t *testing.T) {
	t.Parallel()
	url := stacktest.EmptyPostgres(t)
	first, err := schema.Migrate(t.Context(), url, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if first.From != 0 || first.To != schema.Version() || len(first.Applied) != schema.Version() ||
		first.Dimensions != 1536 {
		t.Errorf("first: %+v", first)
	}
	before := dump(t, url, "public")
	second, err := schema.Migrate(t.Context(), url, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if second.From != schema.Version() || len(second.Applied) != 0 {
		t.Errorf("second: %+v", second)
	}
	if after := dump(t, url, "public"); after != before {
		t.Errorf("the second migration changed the schema:\n%s", firstDifference(before, after))
	}
}

// TestMigrateAtOnce: several workers that start together migrate together.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	url := stacktest.EmptyPostgres(t)
	var applied [4]int
	var wg sync.WaitGroup
	for i := range applied {
		wg.Go(func() {
			report, err := schema.Migrate(t.Context(), url, schema.Options{})
			if err != nil {
				t.Error(err)
			}
			applied[i] = len(report.Applied)
		})
	}
	wg.Wait()
	if sum := applied[0] + applied[1] + applied[2] + applied[3]; sum != schema.Version() {
		t.Errorf("applied %v, together should be %d", applied, schema.Version())
	}
}

// TestMigrateWhileTheLockIsHeld: whoever holds the lock of migrations, which any login can take, is named after a
// while.
func TestMigrateWhileTheLockIsHeld(t *testing.T) {
	t.Parallel()
	url := stacktest.EmptyPostgres(t)
	other := connect(t, url)
	if _, err := other.Exec(t.Context(), "select pg_advisory_lock(9628173550095224)"); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	o := schema.Options{LockWait: time.Millisecond, Log: slog.New(slog.NewTextHandler(&said, nil))}
	_, err := schema.Migrate(t.Context(), url, o)
	named := fmt.Sprintf("pid %d ", other.PgConn().PID())
	if err == nil || !strings.Contains(err.Error(), named) || !strings.Contains(err.Error(), "pg_terminate_backend") {
		t.Errorf("got %v", err)
	}
	if strings.Contains(said.String(), "terminate") {
		t.Errorf("it advises to end a migration that may be at work: %q", &said)
	}
	if !strings.Contains(said.String(), "still waiting") || !strings.Contains(said.String(), named) {
		t.Errorf("while it waited it said %q", &said)
	}
	if _, err := other.Exec(t.Context(), "select pg_advisory_unlock_all()"); err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Migrate(t.Context(), url, schema.Options{}); err != nil {
		t.Error(err)
	}
}

func TestMigrateRefuses(t *testing.T) {
	t.Parallel()
	for _, o := range []schema.Options{
		{Schema: "Public"},
		{Schema: `a"; drop schema public; --`},
		{Dimensions: -1},
		{Dimensions: 4001},
	} {
		if _, err := schema.Migrate(t.Context(), "postgres://127.0.0.1:1/x", o); err == nil ||
			strings.Contains(err.Error(), "connect") {
			t.Errorf("%+v: %v", o, err)
		}
		if err := schema.Print(&bytes.Buffer{}, o); err == nil {
			t.Errorf("print %+v: no error", o)
		}
	}
	url := stacktest.PostgresWith(t, schema.Options{Dimensions: 8})
	if _, err := schema.Migrate(t.Context(), url, schema.Options{}); err == nil ||
		!strings.Contains(err.Error(), "8 dimensions") {
		t.Errorf("another width: %v", err)
	}
	conn := connect(t, url)
	if _, err := conn.Exec(t.Context(), "update aw_schema_version set version = 999"); err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Migrate(t.Context(), url, schema.Options{Dimensions: 8}); err == nil ||
		!strings.Contains(err.Error(), "newer") {
		t.Errorf("a database of a newer program: %v", err)
	}
}

// TestPrint: what is printed and pasted into psql gives the same schema as Migrate does, run once or twice,
// and Migrate takes over from there. In public, and in a schema of its own.
func TestPrint(t *testing.T) {
	t.Parallel()
	for _, o := range []schema.Options{{}, {Schema: "worker", Dimensions: 3072}} {
		in := cmp.Or(o.Schema, "public")
		migrated, printed := stacktest.EmptyPostgres(t), stacktest.EmptyPostgres(t)
		if _, err := schema.Migrate(t.Context(), migrated, o); err != nil {
			t.Fatal(err)
		}
		var script bytes.Buffer
		if err := schema.Print(&script, o); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			psql := exec.CommandContext(t.Context(), binary(t, "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", printed)
			psql.Stdin = bytes.NewReader(script.Bytes())
			if out, err := psql.CombinedOutput(); err != nil {
				t.Fatalf("psql: %v\n%s", err, out)
			}
		}
		if a, b := dump(t, migrated, in), dump(t, printed, in); a != b {
			t.Errorf("%+v: migrated and printed differ:\n%s", o, firstDifference(a, b))
		}
		report, err := schema.Migrate(t.Context(), printed, o)
		if err != nil || report.From != schema.Version() || len(report.Applied) != 0 {
			t.Errorf("%+v: migrate after print: %+v, %v", o, report, err)
		}
	}
}

// TestExtensionsSchema: on Supabase pgvector lives in the schema extensions, and may be installed already.
func TestExtensionsSchema(t *testing.T) {
	t.Parallel()
	for _, prepare := range []string{
		"create schema extensions",
		"create schema extensions; create extension vector with schema extensions",
	} {
		url := stacktest.EmptyPostgres(t)
		conn := connect(t, url)
		if _, err := conn.Exec(t.Context(), prepare); err != nil {
			t.Fatal(err)
		}
		if _, err := schema.Migrate(t.Context(), url, schema.Options{Schema: "worker", Dimensions: 3}); err != nil {
			t.Fatal(err)
		}
		var n int
		if _, err := conn.Exec(t.Context(), "set role async_worker"); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), "select count(*) from worker.match_document_chunks('[1,2,3]', 5)").
			Scan(&n); err != nil {
			t.Errorf("%s: search as the worker's role: %v", prepare, err)
		}
	}
}

// TestAsOwner: the login that migrates need not be a superuser.
func TestAsOwner(t *testing.T) {
	t.Parallel()
	url, _ := ownedDatabase(t)
	if _, err := schema.Migrate(t.Context(), url, schema.Options{}); err != nil {
		t.Fatal(err)
	}
}

// ownedDatabase returns an empty database by its owner, who is no superuser and sees no tenant's rows, and by a superuser.
func ownedDatabase(t *testing.T) (owner, super string) {
	t.Helper()
	// The worker's role belongs to the cluster. It is there before the owner is granted it, whatever test is first.
	if _, err := schema.Migrate(t.Context(), stacktest.EmptyPostgres(t), schema.Options{}); err != nil {
		t.Fatal(err)
	}
	super = stacktest.EmptyPostgres(t)
	conn := connect(t, super)
	database := conn.Config().Database
	login := "owner_of_" + database
	if _, err := conn.Exec(t.Context(), `create extension vector; create role `+login+` login createrole password 'x';
		grant async_worker to `+login+` with admin option; alter database `+database+` owner to `+login+`; grant all on schema public to `+login); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		super := connectFor(t, stacktest.Cluster(t).URL("postgres"))
		defer super.Close(context.Background())
		if _, err := super.Exec(context.Background(), "drop role if exists "+login); err != nil {
			t.Log(err) // it still owns the database of this test, which goes with the cluster
		}
	})
	return stacktest.Cluster(t).URLAs(login, "x", database), super
}

func connectFor(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func binary(t testing.TB, name string) string {
	t.Helper()
	dir, err := stack.FindPostgres()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, name)
}

// restrict are lines of newer pg_dumps with a random word in them.
var restrict = regexp.MustCompile(`(?m)^\\(un)?restrict .*$`)

func dump(t testing.TB, url, in string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary(t, "pg_dump"), "--schema-only", url).Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	conn := connect(t, url)
	var version int
	if err := conn.QueryRow(t.Context(), "select version from "+in+".aw_schema_version").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s\nversion %d", restrict.ReplaceAllString(string(out), ""), version)
}

func firstDifference(a, b string) string {
	linesA, linesB := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(linesA), len(linesB)) {
		if linesA[i] != linesB[i] {
			return "- " + linesA[i] + "\n+ " + linesB[i]
		}
	}
	return "one is longer"
}

// TestEveryTableHasRights: aw_rights names what there is.
func TestEveryTableHasRights(t *testing.T) {
	t.Parallel()
	conn := connect(t, stacktest.Postgres(t))
	var there, known string
	if err := conn.QueryRow(t.Context(),
		`select (select string_agg(relname, ' ' order by relname) from pg_class where relnamespace = 'public'::regnamespace
			and relkind in ('r', 'p') and not relispartition),
		(select string_agg(name, ' ' order by name) from aw_rights())`).Scan(&there, &known); err != nil {
		t.Fatal(err)
	}
	if there != known {
		t.Errorf("aw_rights in functions/88_examine.sql must name the tables:\n%s\nand it names:\n%s", there, known)
	}
}
