package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

// machineWith makes the files of a machine with tenants.
func machineWith(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		settings := map[string]string{
			"etc/async-worker/" + name + ".env": "SUPABASE_URL=https://" + name +
				".example\nLOG_LEVEL=warn\n",
			"etc/async-worker/credentials/" + name + "/SUPABASE_KEY": testKey,
		}
		for path, text := range settings {
			path = filepath.Join(root, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// TestTenantOfTheMachine: commands take the settings of the tenant that --tenant names, or of the only one.
func TestTenantOfTheMachine(t *testing.T) {
	for name, tt := range map[string]struct {
		tenants []string
		env     []string
		args    []string
		code    int
		says    []string
		client  string // whose settings are taken
		url     string
	}{
		"the only one": {
			[]string{"southhaven"},
			nil, nil, exitOK, nil, "southhaven",
			"https://southhaven.example",
		},
		"one of two": {
			[]string{"southhaven", "east-bay"},
			nil,
			[]string{"--tenant", "east-bay"},
			exitOK,
			nil, "east-bay", "https://east-bay.example",
		},
		"which of two": {
			[]string{"southhaven", "east-bay"},
			nil, nil, exitUsage,
			[]string{"this machine has 2 tenants", "--tenant: east-bay, southhaven"},
			"", "",
		},
		"unknown": {
			[]string{"southhaven"},
			nil,
			[]string{"--tenant", "east-bay"},
			exitConfig,
			[]string{"there is no tenant east-bay", "tenant add east-bay"},
			"", "",
		},
		"not a tenant's name": {
			nil, nil,
			[]string{"--tenant", "../x"},
			exitUsage,
			[]string{"not a tenant's name"},
			"",
			"",
		},
		"a machine without any": {nil, nil, nil, exitConfig, []string{"no database is set"}, "", ""},
		"the shell has settings": {
			[]string{"southhaven"}, []string{
				"CLIENT_ID=west", "SUPABASE_URL=https://west.example", "SUPABASE_KEY=" + testKey,
			}, nil, exitOK, nil, "west", "https://west.example",
		},
		"in a container": {
			nil,
			[]string{"SUPABASE_URL=https://west.example", "SUPABASE_KEY=" + testKey},
			[]string{"--tenant", "west"},
			exitOK, nil, "west", "https://west.example",
		},
		"nothing of the shell is left": {
			[]string{"southhaven"},
			[]string{
				"CLIENT_ID=west", "DATABASE_URL=postgres://owner@west.example/x", "SUPABASE_KEY_FILE=/nowhere",
				"CREDENTIALS_DIRECTORY=/nowhere",
			},
			[]string{"--tenant", "southhaven"},
			exitOK, nil, "southhaven", "https://southhaven.example",
		},
		"the shell has a setting that names no service": {
			[]string{"southhaven"},
			[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318"},
			nil, exitOK, nil,
			"southhaven", "https://southhaven.example",
		},
		"a typo beside a shell with settings": {
			[]string{"southhaven"},
			[]string{"DATABASE_URL=postgres://owner@west.example/x"},
			[]string{"--tenant", "sothhaven"},
			exitConfig,
			[]string{"there is no tenant sothhaven"},
			"", "",
		},
		"two names": {
			[]string{"southhaven"},
			nil,
			[]string{"--tenant", "southhaven", "--client-id", "east-bay"},
			exitUsage,
			[]string{"southhaven", "east-bay", "not the same"},
			"", "",
		},
		"a file of no tenant": {
			[]string{"southhaven", ".#southhaven", "Old"},
			nil, nil, exitOK, nil, "southhaven",
			"https://southhaven.example",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var seen config.Config
			args := append([]string{"jobs", "list", "--root", machineWith(t, tt.tenants...)}, tt.args...)
			r := invokeSeeing(t, app.Tenant{Store: &rows{}}, tt.env, "", func(cfg config.Config) { seen = cfg },
				args...)
			r.want(t, tt.code, tt.says...)
			if tt.client != "" && (seen.DatabaseURL.IsSet() || seen.ClientID != tt.client ||
				strings.TrimSuffix(seen.Supabase.URL, "/") != tt.url) {
				t.Errorf("the settings of %s at %s", seen.ClientID, seen.Supabase.URL)
			}
		})
	}
}

// TestWithoutATenant: what needs no tenant looks for none.
func TestWithoutATenant(t *testing.T) {
	root := machineWith(t, "southhaven", "east-bay")
	for _, args := range [][]string{{"extract", "testdata/none.pdf"}, {"status", "--socket", "/nowhere"}} {
		r := invoke(t, app.Tenant{}, nil, "", append(args, "--root", root)...)
		if r.code == exitUsage || strings.Contains(r.errOut, "tenants") {
			t.Errorf("%s: exit %d, %s", args, r.code, r.errOut)
		}
	}
}

// TestIdentityOfTheTenant: Azure's SDK reads its identity from the environment of the process, which has to be the
// tenant's then, and not that of the shell.
func TestIdentityOfTheTenant(t *testing.T) {
	t.Parallel()
	root := machineWith(t, "southhaven")
	env := filepath.Join(root, tenantsDir, "southhaven.env")
	if err := os.WriteFile(env, []byte("SUPABASE_URL=https://southhaven.example\nAZURE_CLIENT_ID=tenants-own\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	p := &program{
		env:   []string{"AZURE_CLIENT_ID=the-shells", "AZURE_CLIENT_SECRET=the-shells", "HOME=/root"},
		stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
		setenv: func(name, value string) { got[name] = value },
		open: func(_ context.Context, cfg config.Config, _ *slog.Logger, _ app.Needs) (*app.Tenant, error) {
			return &app.Tenant{Config: cfg, Store: someRows()}, nil
		},
	}
	if code := p.run(t.Context(), []string{"jobs", "list", "--tenant", "southhaven", "--root", root}); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	if secret, set := got["AZURE_CLIENT_SECRET"]; got["AZURE_CLIENT_ID"] != "tenants-own" || secret != "" || !set {
		t.Errorf("the SDK gets %v", got)
	}
}

// TestLibrariesOfTheTenant: a request goes through the proxy of the tenant's files and trusts their authorities, as the
// worker's does, whatever the shell has.
func TestLibrariesOfTheTenant(t *testing.T) {
	t.Parallel()
	root := machineWith(t, "southhaven")
	shared := filepath.Join(root, "etc/default/async-worker")
	if err := os.MkdirAll(filepath.Dir(shared), 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		shared: "HTTPS_PROXY=http://shared:3128\nNO_PROXY=10.0.0.1\n",
		filepath.Join(root, tenantsDir, "southhaven.env"): "SUPABASE_URL=https://southhaven.example\n" +
			"HTTPS_PROXY=http://tenant:3128\nSSL_CERT_FILE=/etc/tenant.pem\nPGSSLMODE=verify-full\nPGSSLROOTCERT=/etc/db.pem\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{
		"HTTPS_PROXY": "http://tenant:3128", "NO_PROXY": "10.0.0.1", "SSL_CERT_FILE": "/etc/tenant.pem", "HTTP_PROXY": "",
		"http_proxy": "", "https_proxy": "", "no_proxy": "", "SSL_CERT_DIR": "",
		"PGSSLMODE": "verify-full", "PGHOST": "", "PGOPTIONS": "", "PGSERVICE": "",
	}
	var env []string
	for name := range want {
		env = append(env, name+"=the-shells")
	}
	want["PGSSLROOTCERT"] = "/etc/db.pem" // the shell does not have it
	got, opened := map[string]string{}, false
	p := &program{
		env: env, stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
		setenv: func(name, value string) { got[name] = value },
		open: func(_ context.Context, cfg config.Config, _ *slog.Logger, _ app.Needs) (*app.Tenant, error) {
			for name, value := range want {
				if set, ok := got[name]; !ok || set != value {
					t.Errorf("%s is %q when services are opened, want %q", name, set, value)
				}
			}
			opened = true
			return &app.Tenant{Config: cfg, Store: someRows()}, nil
		},
	}
	if code := p.run(t.Context(), []string{"jobs", "list", "--tenant", "southhaven", "--root", root}); code != exitOK || !opened {
		t.Fatalf("exit code %d, opened: %t", code, opened)
	}
}

// TestFileOfASetting: check-config names the file that a tenant's setting stands in, right or wrong.
func TestFileOfASetting(t *testing.T) {
	t.Parallel()
	root := machineWith(t, "southhaven")
	file := filepath.Join(root, tenantsDir, "southhaven.env")
	shared := filepath.Join(root, "etc/default/async-worker")
	if err := os.MkdirAll(filepath.Dir(shared), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(shared, []byte("LOG_LEVEL=info\nLOG_FORMAT=json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	invoke(t, app.Tenant{}, nil, "", "check-config", "--tenant", "southhaven", "--root", root).want(t, exitConfig,
		"AZURE_STORAGE")
	text := "SUPABASE_URL=https://southhaven.example\nLOG_LEVEL=warn\nBLOB_BACKEND=dir\nBLOB_DIR=/srv/blobs\n" +
		"QUEUE_BACKEND=nats\nNATS_URL=nats://127.0.0.1\nLLM_PROVIDER=offline\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := invoke(t, app.Tenant{}, nil, "", "check-config", "--tenant", "southhaven", "--root", root, "-o", "json")
	r.want(t, exitOK, `"value": "warn",
      "origin": "`+file+`"`, `"value": "json",
      "origin": "`+shared+`"`)
	if err := os.WriteFile(file, []byte(text+"WORKER_CONCURRENCY=many\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	invoke(t, app.Tenant{}, nil, "", "check-config", "--tenant", "southhaven", "--root", root, "-o", "json").want(t,
		exitConfig, "many", "(from "+file+")")
}

// TestDoctorOfTheCache: the disk of a tenant's worker is that of its cache, and not that of this user's temporary files.
func TestDoctorOfTheCache(t *testing.T) {
	t.Parallel()
	root := machineWith(t, "southhaven")
	cache := filepath.Join(root, "var/cache/async-worker")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	r := invoke(t, app.Tenant{}, nil, "", "doctor", "--tenant", "southhaven", "--root", root, "-o", "json", "--skip",
		"unit,queues,clock,container,store,models,docling,gateway,webhooks,events,cognee")
	if !strings.Contains(r.out, " free in "+cache+`"`) {
		t.Errorf("%s%s", r.out, r.errOut)
	}
}

// TestSecretInTheSharedFile: a secret in the file of all tenants, which everybody can read as it is installed, is reported by
// check-config, tenant add and doctor, and not once the file is closed.
func TestSecretInTheSharedFile(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	shared := filepath.Join(root, "etc/default/async-worker")
	if err := errors.Join(os.MkdirAll(filepath.Dir(shared), 0o700), os.Chmod(filepath.Dir(shared), 0o755),
		os.WriteFile(shared, []byte("OPENAI_API_KEY=sk-TopSecret\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	add := append(slices.Clone(enough), "--secret-file", "SUPABASE_KEY=-", "--force")
	commands := map[string]func() result{
		"tenant add":   func() result { return onImage(t, root, "sb_secret_TopSecret\n", add...) },
		"check-config": func() result { return onImage(t, root, "", "check-config", "--tenant", "southhaven") },
		"doctor": func() result {
			return onImage(t, root, "", "doctor", "--tenant", "southhaven", "--skip",
				"queues,container,webhooks,clock,store,machine,models,docling")
		},
	}
	for _, mode := range []os.FileMode{0o644, 0o640} {
		if err := os.Chmod(shared, mode); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"tenant add", "check-config", "doctor"} {
			r := commands[name]()
			said := strings.Join(strings.Fields(r.out+r.errOut), " ")
			if open := mode == 0o644; strings.Contains(said, "every user of this machine can read "+shared) != open ||
				name == "doctor" && (r.code == exitPermission) != open {
				t.Errorf("mode %04o, %s: exit %d: %s", mode, name, r.code, said)
			}
		}
	}
}
