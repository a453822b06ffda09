package cli

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/cognee/cogneetest"
	"github.com/seed-7227ef26/async-worker/internal/httpd"
	"github.com/seed-7227ef26/async-worker/internal/stack"
	"github.com/seed-7227ef26/async-worker/internal/stack/stacktest"
)

// bench is where the commands of the table are tried.
type bench struct {
	folder, self string   // see openFolder
	terminal     *os.File // for the command that needs one
}

func openBench(t *testing.T) bench {
	t.Helper()
	folder, self := openFolder(t)
	_, terminal := openTerminal(t)
	return bench{folder, self, terminal}
}

// circumstance is the state of a machine on which a command runs.
type circumstance struct {
	name     string
	about    string
	tenants  []string
	services func(t *testing.T, here bench) services
	user     uint32 // 0: root
	waits    bool   // most of its commands
}

func circumstances() []circumstance {
	south := []string{"southhaven"}
	return []circumstance{
		{"nothing set", "no tenant on the machine, and no setting in the environment", nil, down, 0, false},
		{"one tenant", "its services and its worker are up, and it has a document, `a.md`", south, up, 0, false},
		{"services down", "one tenant, and nobody listens where its services should be", south, down, 0, false},
		{
			"services hang", "one tenant, and its services take connections and say nothing; most commands give up after " +
				databasePatience.String(), south, hung, 0, true,
		},
		{"many tenants", "two tenants, whose services are down, and no `--tenant`", []string{"southhaven", "east-bay"}, down, 0, false},
		{"not root", "one tenant, whose services are down, and a user who may not read its files", south, down, nobody, false},
	}
}

// services are what the settings of a tenant name.
type services struct {
	database, storage, cognee string
	owner                     string        // the database for migrate
	settings                  []string      // further lines of the tenant's file
	secrets                   []string      // no command prints one
	reloads                   []string      // the environment of reload, by systemd; nil: no worker runs
	patience                  time.Duration // of commands with them; zero: what users have
}

// longConnect: on a busy machine the time for a connection, 10 s, may be over when databasePatience is noticed to be.
const longConnect = "?connect_timeout=60"

// servicesAt are all at one address.
func servicesAt(addr string) services {
	return services{
		database: "postgres://worker:TopSecret@" + addr + "/db" + longConnect,
		owner:    "postgres://owner:TopSecret@" + addr + "/db",
		storage: "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=VG9wU2VjcmV0QWNjb3VudEtleQ==;" +
			"BlobEndpoint=http://" + addr + "/devstoreaccount1;QueueEndpoint=http://" + addr + "/devstoreaccount1;",
		cognee:  "http://" + addr,
		secrets: []string{"TopSecret", "VG9wU2VjcmV0"},
	}
}

// down are services at an address on which nobody listens.
func down(*testing.T, bench) services { return servicesAt("127.100.100.1:1") }

func hung(t *testing.T, _ bench) services {
	t.Helper()
	return servicesAt(silent(t))
}

// up are real services, with a worker of southhaven.
func up(t *testing.T, here bench) services {
	t.Helper()
	port, err := stack.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	addr := "127.0.0.1:" + strconv.Itoa(port)
	s := services{
		database: stacktest.Postgres(t), owner: stacktest.EmptyPostgres(t), storage: stacktest.Azurite(t),
		cognee:   cogneetest.New(t, cogneetest.Options{}).URL(),
		settings: []string{"HTTP_ADDR=" + addr, "POLL_MAX_MS=100"},
		patience: busyPatience,
	}
	u, err := url.Parse(s.database)
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	_, key, _ := strings.Cut(s.storage, "AccountKey=")
	s.secrets = []string{password, key[:20], cogneetest.Key, "TopSecret"}
	runtime := filepath.Join(here.folder, "run")
	if err := os.Mkdir(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	unit := slices.Clip(append(s.lines(), "CLIENT_ID=southhaven", "RUNTIME_DIRECTORY="+runtime))
	root := putMachine(t, filepath.Join(here.folder, "up"), []string{"southhaven"}, s)
	worker := startUnit(t, here, addr,
		append(unit, "CREDENTIALS_DIRECTORY="+filepath.Join(root, tenantsDir, "credentials", "southhaven")))
	if r := (trial{bench: here, at: s, root: root, command: "enqueue --upload a.md --document-set s --watch"}).outcome(t); r.code != 0 {
		t.Fatalf("the tenant's document: %+v", r)
	}
	s.reloads = append(unit, "MAINPID="+strconv.Itoa(worker.Pid()))
	return s
}

// startUnit starts a worker as systemd does, and waits until it is ready.
func startUnit(t *testing.T, here bench, addr string, env []string) *stack.Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	p, err := stack.Start(ctx, stack.Command{
		Name: "the worker", Path: here.self, Args: []string{"run"}, Dir: here.folder,
		Env: append(env, asProgram+"=1", "PATH="+os.Getenv("PATH"), "GORACE="+os.Getenv("GORACE")),
		Up: func(ctx context.Context) error {
			var s app.Status
			return errors.Join(httpd.Client{Addr: addr}.Get(ctx, "/status", &s), readiness(s))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(syscall.SIGTERM, time.Minute); err != nil {
			t.Error(err)
		}
	})
	return p
}

// lines are a tenant's settings without its secrets.
func (s services) lines() []string {
	return append([]string{"LLM_PROVIDER=offline", "COGNEE_URL=" + s.cognee}, s.settings...)
}

// putMachine makes a machine with tenants, a document and the settings of another tenant.
func putMachine(t *testing.T, root string, names []string, s services) string {
	t.Helper()
	if err := errors.Join(
		os.Mkdir(root, 0o755),
		os.WriteFile(filepath.Join(root, "a.md"), []byte("# Cranes\n"), 0o644),
		os.WriteFile(filepath.Join(root, "harbour.env"), []byte("AZURE_STORAGE_ACCOUNT=stharbour\nSUPABASE_URL=https://p.supabase.co\n"+
			"SUPABASE_KEY="+testKey+"\nLLM_PROVIDER=offline\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		s.put(t, root, name)
		// as the package makes it, see packaging/debian/tmpfiles.conf
		if err := os.Chmod(filepath.Join(root, tenantsDir), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// putTenant makes the files of a tenant, all of whose services are at one address.
func putTenant(t *testing.T, root, name, addr string) {
	t.Helper()
	servicesAt(addr).put(t, root, name)
}

// put makes the files of a tenant.
func (s services) put(t *testing.T, root, name string) {
	t.Helper()
	etc := filepath.Join(root, tenantsDir)
	credentials := filepath.Join(etc, "credentials", name)
	if err := errors.Join(os.MkdirAll(etc, 0o755), os.MkdirAll(credentials, 0o700)); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(etc, name+".env"):                               strings.Join(s.lines(), "\n") + "\n",
		filepath.Join(credentials, "DATABASE_URL"):                    s.database,
		filepath.Join(credentials, "OPENAI_API_KEY"):                  "sk-TopSecret",
		filepath.Join(credentials, "COGNEE_API_KEY"):                  cogneetest.Key,
		filepath.Join(credentials, "AZURE_STORAGE_CONNECTION_STRING"): s.storage,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// silent is an address that accepts connections and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}
