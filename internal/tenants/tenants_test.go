package tenants

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

func machine(t *testing.T) (*Machine, string) {
	t.Helper()
	root := t.TempDir()
	m, err := Open(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m, root
}

// valid is a change with enough settings for a worker.
func valid(name string) Change {
	return Change{
		Name: name,
		Settings: map[string]string{
			"AZURE_STORAGE_ACCOUNT": "stsouth", "SUPABASE_URL": "https://p.supabase.co", "LLM_PROVIDER": "offline",
		},
		Secrets: map[string]config.Secret{"SUPABASE_KEY": config.NewSecret("sb_secret_x\n")},
	}
}

func mustAdd(t *testing.T, m *Machine, c Change) Added {
	t.Helper()
	a, err := m.Add(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// files lists what is below root, with modes.
func files(t *testing.T, root string) map[string]fs.FileMode {
	t.Helper()
	out := map[string]fs.FileMode{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if rel, _ := filepath.Rel(root, path); rel != "." {
			out[rel] = info.Mode()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAddWritesWhatTheUnitReads(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	a := mustAdd(t, m, valid("southhaven"))
	if !slices.Equal(a.Changed, []string{"AZURE_STORAGE_ACCOUNT", "LLM_PROVIDER", "SUPABASE_KEY", "SUPABASE_URL"}) {
		t.Errorf("changed %v", a.Changed)
	}
	want := map[string]fs.FileMode{
		"etc": fs.ModeDir | 0o755, "etc/async-worker": fs.ModeDir | 0o750, "etc/async-worker/southhaven.env": 0o640,
		// Without the package there is no group: the files belong to their owner only.
		"etc/async-worker/credentials":                         fs.ModeDir | 0o700,
		"etc/async-worker/credentials/southhaven":              fs.ModeDir | 0o700,
		"etc/async-worker/credentials/southhaven/SUPABASE_KEY": 0o600,
	}
	got := files(t, root)
	for file, mode := range want {
		if got[file] != mode {
			t.Errorf("%s has the mode %v, want %v", file, got[file], mode)
		}
	}
	if len(got) != len(want) {
		t.Errorf("unexpected files: %v", got)
	}
	env, _ := os.ReadFile(filepath.Join(root, "etc/async-worker/southhaven.env"))
	key, _ := os.ReadFile(filepath.Join(root, "etc/async-worker/credentials/southhaven/SUPABASE_KEY"))
	if strings.Contains(string(env), "sb_secret") || string(key) != "sb_secret_x\n" ||
		!strings.Contains(string(env), "\nAZURE_STORAGE_ACCOUNT=stsouth\n") {
		t.Errorf("env file %q, key %q", env, key)
	}
}

func TestTheSameAgainChangesNothing(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	mustAdd(t, m, valid("southhaven"))
	file := filepath.Join(root, "etc/async-worker/southhaven.env")
	before, _ := os.Stat(file)
	if a := mustAdd(t, m, valid("southhaven")); len(a.Changed) != 0 {
		t.Errorf("changed %v", a.Changed)
	}
	if after, _ := os.Stat(file); !os.SameFile(before, after) {
		t.Error("the file was rewritten")
	}
}

func TestNothingIsWrittenOverWithoutForce(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	mustAdd(t, m, valid("southhaven"))
	file := filepath.Join(root, "etc/async-worker/southhaven.env")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append([]byte("# mine\n"), before...), 0o640); err != nil {
		t.Fatal(err)
	}

	c := Change{
		Name: "southhaven", Settings: map[string]string{"WORKER_CONCURRENCY": "8"},
		Secrets: map[string]config.Secret{"SUPABASE_KEY": config.NewSecret("sb_secret_y")},
	}
	_, err = m.Add(c)
	if e, ok := errors.AsType[*ExistsError](err); !ok || !slices.Equal(e.Differs,
		[]string{"SUPABASE_KEY", "WORKER_CONCURRENCY"}) || strings.Contains(err.Error(), "sb_secret") {
		t.Fatalf("%v", err)
	}
	if now, _ := os.ReadFile(file); string(now) != "# mine\n"+string(before) {
		t.Errorf("overwritten: %s", now)
	}

	c.Force = true
	mustAdd(t, m, c)
	if now, _ := os.ReadFile(file); string(now) != "# mine\n"+string(before)+"WORKER_CONCURRENCY=8\n" {
		t.Errorf("comments and other settings should stay: %s", now)
	}
	if key, _ := os.ReadFile(filepath.Join(root, "etc/async-worker/credentials/southhaven/SUPABASE_KEY")); string(
		key) != "sb_secret_y\n" {
		t.Errorf("key %q", key)
	}
}

func TestWrongSettingsWriteNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Change){
		"CLIENT_ID":          func(c *Change) { c.Settings["CLIENT_ID"] = "northhaven" },
		"WORKER_CONCURRENCY": func(c *Change) { c.Settings["WORKER_CONCURRENCY"] = "many" },
		"SUPABASE_KEY":       func(c *Change) { c.Secrets = nil },
		"WEBHOOK_SECRET":     func(c *Change) { c.Secrets["WEBHOOK_SECRET"] = config.NewSecret("s3cret") },
		"HTTPS_PROXY":        func(c *Change) { c.Settings["HTTPS_PROXY"] = "http://proxy\nLLM_PROVIDER=openai" },
	} {
		m, root := machine(t)
		c := valid("southhaven")
		change(&c)
		_, err := m.Add(c)
		e, ok := errors.AsType[*config.Errors](err)
		if !ok || e.Problems[0].Name != name || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", name, err)
		}
		if got := files(t, root); len(got) != 0 {
			t.Errorf("%s: %v was written", name, got)
		}
	}
}

func TestNamesStayInTheirFolder(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	for _, name := range []string{"", "..", "../x", "a/b", "South", "a--b", "a.b", "-a", strings.Repeat("a", 29)} {
		c := valid(name)
		if _, err := m.Add(c); err == nil {
			t.Errorf("added %q", name)
		}
		if _, err := m.Remove(name, true); err == nil {
			t.Errorf("removed %q", name)
		}
		if _, err := m.Enabled(name); err == nil {
			t.Errorf("looked for %q", name)
		}
	}
	if got := files(t, root); len(got) != 0 {
		t.Errorf("%v was written", got)
	}
}

// Secrets in an environment file become credentials; the check includes the shared settings.
func TestSecretsMoveAndSharedSettingsCount(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	if err := os.MkdirAll(filepath.Join(root, "etc/default"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, sharedFile),
		[]byte("LLM_PROVIDER=offline\nSUPABASE_URL=https://p.supabase.co\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := Change{
		Name: "southhaven", Settings: map[string]string{
			"AZURE_STORAGE_ACCOUNT": "stsouth", "SUPABASE_KEY": "sb_secret_x", "WEBHOOK_SECRET": "",
			"CLIENT_ID": "southhaven",
		},
	}
	a := mustAdd(t, m, c)
	if !slices.Equal(a.Settings, []string{"AZURE_STORAGE_ACCOUNT"}) ||
		!slices.Equal(a.Secrets, []string{"SUPABASE_KEY"}) {
		t.Errorf("%+v", a)
	}
	file := filepath.Join(root, "etc/async-worker/southhaven.env")
	if err := os.WriteFile(file, []byte("SUPABASE_KEY=old\nAZURE_STORAGE_ACCOUNT=stsouth\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	c.Force = true
	mustAdd(t, m, c)
	if now, _ := os.ReadFile(file); string(now) != "AZURE_STORAGE_ACCOUNT=stsouth\n" {
		t.Errorf("env file %q", now)
	}
}

func TestListAndRemove(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	if all, err := m.List(); err != nil || len(all) != 0 {
		t.Fatalf("%v %v", all, err)
	}
	mustAdd(t, m, valid("southhaven"))
	mustAdd(t, m, valid("northhaven"))
	wants := filepath.Join(root, wantsPath("northhaven"))
	state := filepath.Join(root, "var/lib/private/async-worker/northhaven/spool")
	for _, folder := range []string{filepath.Dir(wants), state, filepath.Join(root, "var/lib/async-worker")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{wants: "/usr/lib/systemd/system/async-worker@.service", filepath.Join(root,
		"var/lib/async-worker/northhaven"): "../private/async-worker/northhaven"} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	if on, err := m.Enabled("northhaven"); !on || err != nil {
		t.Errorf("enabled: %t %v", on, err)
	}
	if err := os.WriteFile(filepath.Join(root, settingsFolder, "Not a tenant.env"), nil, 0o640); err != nil {
		t.Fatal(err)
	}
	all, err := m.List()
	if err != nil || len(all) != 2 || all[0].Name != "northhaven" || len(all[1].Settings) != 3 ||
		len(all[1].Secrets) != 1 {
		t.Fatalf("%+v %v", all, err)
	}

	removed, err := m.Remove("northhaven", true)
	if err != nil || len(removed) != 5 {
		t.Errorf("%v %v", removed, err)
	}
	for file := range files(t, root) {
		if strings.Contains(file, "northhaven") {
			t.Errorf("%s still exists", file)
		}
	}
	if again, err := m.Remove("northhaven", true); err != nil || len(again) != 0 {
		t.Errorf("%v %v", again, err)
	}
	if all, err = m.List(); err != nil || len(all) != 1 {
		t.Errorf("%v %v", all, err)
	}
}

// A symlink in the tree of an image must not lead to this machine's own files.
func TestNoLinkLeadsOutOfTheRoot(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	outside := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, settingsFolder)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Add(valid("southhaven")); err == nil {
		t.Error("no error")
	}
	if got := files(t, outside); len(got) != 0 {
		t.Errorf("%v was written outside", got)
	}
}
