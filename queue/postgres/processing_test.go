package postgres_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
	"github.com/seed-7227ef26/async-worker/internal/store/schema"
	"github.com/seed-7227ef26/async-worker/internal/tenantkey"
)

// twoTenants is a database with a job of acme and one of other.
func twoTenants(t *testing.T) (url string) {
	t.Helper()
	url = stacktest.PostgresWith(t, small)
	for _, client := range []string{"acme", "other"} {
		if got := enqueue(t, as(t, url, client), `{"task_id": "of-`+client+`", "task_type": "ingest", "payload": {}}`); got != "of-"+client+" true" {
			t.Fatal(got)
		}
	}
	return url
}

// TestProcessingJobsByRole: a key that may act for every tenant and is bound to none sees all jobs, and everybody else
// those of his own tenant, or none (I10).
func TestProcessingJobsByRole(t *testing.T) {
	t.Parallel()
	url := twoTenants(t)
	super := connect(t, url)
	name := "every_" + super.Config().Database
	_, err := super.Exec(t.Context(), strings.ReplaceAll(`create role NAME login password 'x' bypassrls;
		grant select on processing_jobs to NAME; grant execute on function aw_processing_jobs() to NAME`, "NAME", name))
	must(t, err)
	dropLater(t, url, name)
	for _, c := range []struct{ name, set, want string }{
		{"the superuser", "", "of-acme of-other"},
		{"the superuser, bound", "set app.client_id = 'acme'", "of-acme"},
		{"the service key", "set role service_role", "of-acme of-other"},
		{"the service key, bound by a claim", `set role service_role; set request.jwt.claims = '{"client_id":"other"}'`, "of-other"},
		{"the service key, bound by a setting", `set role service_role; set app.client_id = 'acme'`, "of-acme"},
		{"a call for a tenant before", `set role service_role; set app.asked_client = 'acme'`, "of-acme of-other"},
		{"a worker", "set role async_worker; set app.client_id = 'acme'", "of-acme"},
		{"a worker of none", "set role async_worker; set app.asked_client = 'acme'", ""},
		{"another's worker", "set role async_worker; set app.client_id = 'nobody'", ""},
		{"a reader", "set role async_worker_reader; set app.client_id = 'acme'", "of-acme"},
		{"a reader of none", "set role async_worker_reader", ""},
		{"the functions' owner", "set role aw_owner", "42501"},
		{"anon", "set role anon; set app.client_id = 'acme'", "42501"},
		{"a user", `set role authenticated; set request.jwt.claims = '{"client_id":"acme"}'`, "42501"},
		{"a role without the rights of the tables", "set role " + name, "42501"},
	} {
		conn := connect(t, url)
		_, err := conn.Exec(t.Context(), c.set)
		must(t, err)
		var got string
		err = conn.QueryRow(t.Context(), "select coalesce(string_agg(id, ' ' order by id), '') from processing_jobs").Scan(&got)
		if err != nil {
			got = raised(err)
		}
		if got != c.want {
			t.Errorf("%s sees %q, want %q", c.name, got, c.want)
		}
	}
	for _, role := range []string{"anon", "authenticated"} {
		conn := connect(t, url)
		_, err := conn.Exec(t.Context(), "set role "+role)
		must(t, err)
		for _, from := range []string{"aw_processing_jobs()", "aw_own_processing_jobs()"} {
			if _, err := conn.Exec(t.Context(), "select from "+from); raised(err) != "42501" {
				t.Errorf("%s: %s: %v", role, from, err)
			}
		}
	}
}

// TestProcessingJobsOverPostgREST: so it is for the keys of an API, which insert as supabase-js does and read back.
func TestProcessingJobsOverPostgREST(t *testing.T) {
	t.Parallel()
	api := stacktest.PostgREST(t, twoTenants(t))
	user, err := tenantkey.Sign(api.JWTSecret(), tenantkey.Claims{
		Role: "authenticated", ClientID: "acme", Issuer: "test", From: time.Now(), Until: time.Now().Add(time.Hour),
	})
	must(t, err)
	service, worker, reader := api.ServiceKey(t), api.TenantKey(t, "acme"), api.ReaderKey(t, "other")
	const query = "processing_jobs?select=id&order=id"
	for _, c := range []struct {
		name, key, method, path, body string
		status                        int
		want                          string
	}{
		{"the service key", service, "GET", query, "", 200, `[{"id":"of-acme"}, {"id":"of-other"}]`},
		{"a worker's", worker, "GET", query, "", 200, `[{"id":"of-acme"}]`},
		{"a reader's", reader, "GET", query, "", 200, `[{"id":"of-other"}]`},
		{"a worker's of none", api.TenantKey(t, ""), "GET", query, "", 200, `[]`},
		{"no key", "", "GET", query, "", 401, "42501"},
		{"a user's", user, "GET", query, "", 403, "42501"},
		{"the service key, a filter", service, "GET", "processing_jobs?select=client_id,status&id=eq.of-other", "", 200, `[{"client_id":"other","status":"pending"}]`},
		{
			"an insert by the service key", service, "POST", "processing_jobs?select=id,status",
			`{"id":"z","client_id":"third","type":"ingest","payload":{}}`, 201, `[{"id":"z","status":"pending"}]`,
		},
		{"an insert for no tenant", service, "POST", "processing_jobs", `{"type":"ingest","payload":{}}`, 400, "AW006"},
		{"an insert by a worker", worker, "POST", "processing_jobs?select=id", `{"id":"y","type":"ingest","payload":{}}`, 201, `[{"id":"y"}]`},
		{"an insert for another", worker, "POST", "processing_jobs?select=id", `{"client_id":"other","type":"ingest","payload":{}}`, 400, "AW004"},
		{"an insert by a reader", reader, "POST", "processing_jobs?select=id", `{"type":"ingest","payload":{}}`, 403, "42501"},
		{"an insert by a user", user, "POST", "processing_jobs?select=id", `{"type":"ingest","payload":{}}`, 403, "42501"},
		{"the third's job", service, "GET", "processing_jobs?select=client_id&id=eq.z", "", 200, `[{"client_id":"third"}]`},
		{"another's job", worker, "GET", "processing_jobs?select=client_id&id=eq.z", "", 200, `[]`},
	} {
		status, body := ask(t, api, c.key, c.method, c.path, c.body)
		if status != c.status || status < 300 && tight(body) != tight(c.want) || !strings.Contains(tight(body), tight(c.want)) {
			t.Errorf("%s: %d %s, want %d %s", c.name, status, body, c.status, c.want)
		}
	}
}

// tight is JSON without the spaces and lines that PostgREST puts between rows.
func tight(body string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(body) }

// ask asks PostgREST as supabase-js does; key may be empty.
func ask(t *testing.T, api stacktest.Supabase, key, method, path, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, api.URL+"/rest/v1/"+path, strings.NewReader(body))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Prefer", "return=representation")
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	got, err := http.DefaultClient.Do(r)
	must(t, err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	must(t, err)
	return got.StatusCode, string(text)
}

// TestFrontendLoginOfBefore: a login with the grants that the view asked for before keeps the view after a migrate,
// whatever else it has none.
func TestFrontendLoginOfBefore(t *testing.T) {
	t.Parallel()
	url := twoTenants(t)
	super := connect(t, url)
	app := "app_" + super.Config().Database
	_, err := super.Exec(t.Context(), strings.ReplaceAll(`create role APP login password 'x';
		create or replace view processing_jobs as select * from aw_own_processing_jobs();
		drop function aw_processing_jobs();
		grant execute on function aw_own_processing_jobs() to APP;
		grant select on processing_jobs to APP`, "APP", app))
	must(t, err)
	dropLater(t, url, app)
	for range 2 {
		_, err := schema.Migrate(t.Context(), url, small)
		must(t, err)
	}
	conn := connect(t, stacktest.Cluster(t).URLAs(app, "x", super.Config().Database))
	for client, want := range map[string]string{"": "", "acme": "of-acme", "other": "of-other"} {
		_, err := conn.Exec(t.Context(), "select set_config('app.client_id', $1, false)", client)
		must(t, err)
		var got string
		must(t, conn.QueryRow(t.Context(), "select coalesce(string_agg(id, ' '), '') from processing_jobs").Scan(&got))
		if got != want {
			t.Errorf("for %q: %q, want %q", client, got, want)
		}
	}
}

// dropLater drops a role, and what it was granted in a database, with the test.
func dropLater(t *testing.T, url, role string) {
	t.Helper()
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), url)
		must(t, err)
		defer conn.Close(context.Background())
		_, err = conn.Exec(context.Background(), fmt.Sprintf("drop owned by %[1]q; drop role %[1]q", role))
		must(t, err)
	})
}
