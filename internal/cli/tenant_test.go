package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// onImage runs a command line against the tree of an image.
func onImage(t *testing.T, root, stdin string, args ...string) result {
	t.Helper()
	return withManager(t, nil, stdin, append(args, "--root", root)...)
}

func withManager(t *testing.T, m serviceManager, stdin string, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	p := &program{stdin: strings.NewReader(stdin), stdout: &out, stderr: &errOut, systemctl: m}
	r := result{code: p.run(t.Context(), args)}
	r.out, r.errOut = out.String(), errOut.String()
	if strings.Contains(r.out+r.errOut, "TopSecret") {
		t.Errorf("a secret was printed: %s%s", r.out, r.errOut)
	}
	return r
}

var enough = []string{
	"tenant", "add", "southhaven", "--azure-storage-account", "stsouth", "--supabase-url", "https://p.supabase.co",
	"--llm-provider", "offline",
}

func TestTenantAddListRemove(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	add := append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-")
	onImage(t, root, testKey+"\n", add...).want(t, exitOK,
		"written: AZURE_STORAGE_ACCOUNT, LLM_PROVIDER, SUPABASE_KEY, SUPABASE_URL",
		"next: systemctl --root="+root+" enable async-worker@southhaven\n", "warning: WEBHOOK_SECRET")
	onImage(t, root, testKey+"\n", add...).want(t, exitOK, "nothing was written")
	onImage(t, root, "", "tenant", "add", "southhaven", "--llm-provider", "openai").want(t, exitFailed,
		"would change: LLM_PROVIDER", "--force")
	onImage(t, root, "", "tenant", "list").want(t, exitOK, "southhaven  no       -       3         SUPABASE_KEY\n")

	var rows []tenantRow
	r := onImage(t, root, "", "tenant", "list", "-o", "json")
	if err := json.Unmarshal([]byte(r.out), &rows); err != nil || len(rows) != 1 || rows[0].Name != "southhaven" ||
		len(rows[0].Settings) != 3 {
		t.Errorf("%v: %s", err, r.out)
	}

	onImage(t, root, "", "tenant", "remove", "southhaven").want(t, exitUsage, "--yes")
	onImage(t, root, "", "tenant", "remove", "southhaven", "--yes").want(t, exitOK,
		"removed "+root+"/etc/async-worker/southhaven.env")
	onImage(t, root, "", "tenant", "remove", "southhaven", "--yes").want(t, exitOK, "nothing was removed")
	onImage(t, root, "", "tenant", "list").want(t, exitOK, "There is no tenant yet")
}

// Many settings are listed within the line. The first line has the path of the file, which a test's folder makes long.
func TestTenantAddFitsTheLine(t *testing.T) {
	t.Parallel()
	args := append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-", "--poll-max-ms", "5000", "--task-timeout-sec",
		"600", "--step-timeout-sec", "60", "--worker-lease-ttl-sec", "60", "--worker-concurrency", "4")
	r := onImage(t, t.TempDir(), testKey+"\n", args...)
	r.want(t, exitOK, "written: ", "WORKER_LEASE_TTL_SEC")
	_, written, _ := strings.Cut(r.out, "written: ")
	for line := range strings.Lines("written: " + written) {
		if n := len(strings.TrimSuffix(line, "\n")); n > maxLineWidth && !strings.HasPrefix(line, "next: ") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// One tenant whose file is damaged does not hide the others.
func TestTenantListWithADamagedFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	etc := filepath.Join(root, "etc", "async-worker")
	if err := os.MkdirAll(etc, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"good": "LOG_LEVEL=info\n", "worse": "SUPABASE_KEY TopSecret\n"} {
		if err := os.WriteFile(filepath.Join(etc, name+".env"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := onImage(t, root, "", "tenant", "list")
	r.want(t, exitFailed, "good", "unreadable", "tenant worse: ", "correct "+etc+"/worse.env")
	if strings.Contains(r.out+r.errOut, "TopSecret") {
		t.Errorf("it prints a secret: %+v", r)
	}
	onImage(t, root, "", "tenant", "list", "-o", "json").want(t, exitFailed, `"problem": "`)
}

func TestTenantAddRefuses(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	env := filepath.Join(root, "broken.env")
	if err := os.WriteFile(env, []byte("SUPABASE_KEY TopSecret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		text string
	}{
		{"", exitConfig, "3 problems in the settings."},
		{"--worker-concurrency many", exitConfig, "WORKER_CONCURRENCY"},
		{"--secret SUPABASE_KEY=TopSecret", exitUsage, "never an argument"},
		{"--secret-file SUPABASE_KEY=TopSecret", exitUsage, "it is the path of a file"},
		{"--secret-file TopSecret", exitUsage, "never an argument"},
		{"--secret-file LOG_LEVEL=-", exitUsage, "secret setting"},
		{"--secret SUPABASE_KEY", exitUsage, "standard input is not a terminal"},
		{"--secret-file SUPABASE_KEY=-", exitUsage, "write its value into the file"},
		{"--secret-file SUPABASE_KEY=- --secret-file OPENAI_API_KEY=-", exitUsage, "only once"},
		{"--env-file " + env, exitUsage, "line 1"},
		{"--supabase-key TopSecret", exitUsage, "unknown flag"},
	} {
		args := append([]string{"tenant", "add", "southhaven"}, strings.Fields(c.args)...)
		stdin := ""
		if strings.Count(c.args, "=-") == 2 {
			stdin = "TopSecret"
		}
		onImage(t, root, stdin, args...).want(t, c.code, c.text)
	}
	onImage(t, root, "", "tenant", "add", "BAD_Name").want(t, exitUsage, `"BAD_Name" is not a valid name for a tenant`)
	if _, err := os.Stat(filepath.Join(root, "etc")); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
}

// The example file with a few comment characters removed is a tenant's, and its secrets become credentials.
func TestTenantFromTheExampleFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	filled := strings.NewReplacer("#AZURE_STORAGE_ACCOUNT=", "AZURE_STORAGE_ACCOUNT=stsouth", "#DATABASE_URL=",
		"DATABASE_URL=postgresql://w:TopSecret@db/postgres",
		"#LLM_PROVIDER=openai", "LLM_PROVIDER=offline").Replace(config.EnvFile())
	onImage(t, root, filled, "tenant", "add", "southhaven", "--env-file", "-").want(t, exitOK,
		"secrets: DATABASE_URL\n")
}

// A service manager that knows one worker.
type unit struct {
	state string
	calls []string
}

func (u *unit) systemctl(_ context.Context, args ...string) (string, error) {
	u.calls = append(u.calls, strings.Join(args, " "))
	if args[0] == "show" {
		return "Id=async-worker@made-up-for-a-test.service\nActiveState=" + u.state +
			"\n\nId=async-worker@other.service\nActiveState=failed\n", nil
	}
	return "", nil
}

func TestStates(t *testing.T) {
	t.Parallel()
	got, err := serviceManager((&unit{state: "active"}).systemctl).states(t.Context(), "made-up-for-a-test",
		"northhaven")
	if err != nil || len(got) != 1 || !isRunning(got["made-up-for-a-test"]) || isRunning(got["northhaven"]) {
		t.Errorf("%v %v", got, err)
	}
}

// On this machine, as --root is not given: a worker that runs is left alone unless it is to be stopped.
func TestTenantRemoveWhileItRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  string
		state string
		code  int
		calls int
	}{
		{"--yes", "active", exitFailed, 1},
		{"--yes", "deactivating", exitFailed, 1},
		{"--yes --stop --keep-files", "active", exitOK, 2},
		{"--yes --keep-files", "failed", exitOK, 1},
	} {
		u := &unit{state: c.state}
		r := withManager(t, u.systemctl, "", append([]string{"tenant", "remove", "made-up-for-a-test"},
			strings.Fields(c.args)...)...)
		r.want(t, c.code)
		if len(u.calls) != c.calls || c.calls == 2 && u.calls[1] != "stop async-worker@made-up-for-a-test.service" {
			t.Errorf("%s: systemctl %q", c.args, u.calls)
		}
	}
}

// TestTenantRemovalNamesDocuments: whoever confirms a removal with --state is told of the folder, and of documents in it.
func TestTenantRemovalNamesDocuments(t *testing.T) {
	t.Parallel()
	for blobs, want := range map[string]string{
		"": "", "/srv/documents": "", "/var/lib/async-worker/southhaven-2/blobs": "", "/var/lib/async-worker/northhaven": "",
		"/var/lib/async-worker/southhaven":               "/var/lib/async-worker/southhaven (BLOB_DIR)",
		"/var/lib/private/async-worker/southhaven/blobs": "/var/lib/private/async-worker/southhaven/blobs (BLOB_DIR)",
	} {
		root := machineWith(t, "southhaven")
		if err := os.WriteFile(filepath.Join(root, tenantsDir, "southhaven.env"), []byte("BLOB_DIR="+blobs+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := tenants.Open(root)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		var said strings.Builder
		if err := confirmRemoval(strings.NewReader("southhaven\n"), &said, "southhaven", removal(m, "southhaven", true)); err != nil {
			t.Error(err)
		}
		if got := said.String(); !strings.Contains(got, " "+root+"/var/lib/async-worker/southhaven") ||
			!strings.Contains(got, want) || strings.Contains(got, "BLOB_DIR") != (want != "") {
			t.Errorf("BLOB_DIR=%s: %s", blobs, got)
		}
		if got := removal(m, "southhaven", false); got != "The settings and secrets of southhaven" {
			t.Errorf("without --state: %s", got)
		}
	}
}

// TestTenantAddRefusedSettings: what to do is about what was given, and not to add a tenant, which is what failed.
func TestTenantAddRefusedSettings(t *testing.T) {
	t.Parallel()
	r := onImage(t, t.TempDir(), "", "tenant", "add", "southhaven", "--queue-backend", "postgres", "--llm-provider", "offline")
	r.want(t, exitConfig, "SUPABASE_URL", "BLOB_BACKEND=dir", "nothing was written; correct them and repeat the command")
	if strings.Contains(r.errOut, "tenant add NAME") {
		t.Errorf("%s", r.errOut)
	}
}

// TestNamedFileIsTheWorkers: check-config as root reads files that the worker can't, and says so.
func TestNamedFileIsTheWorkers(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	onImage(t, root, testKey+"\n", append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-")...).want(t, exitOK)
	env, token := filepath.Join(root, tenantsDir, "southhaven.env"), filepath.Join(root, "token")
	write(t, token, "0123456789abcdef0123456789abcdef\n")
	write(t, env, string(read(t, env))+"HTTP_ADDR=127.0.0.1:9090\nHTTP_TOKEN_FILE="+token+"\n")
	onImage(t, root, "", "check-config", "--tenant", "southhaven").want(t, exitOK, "The settings are fine",
		"warning: HTTP_TOKEN_FILE: the worker's user can't read the file", "--secret-file HTTP_TOKEN=PATH")
}
