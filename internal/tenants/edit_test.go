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

const edited = "# mine\nAZURE_STORAGE_ACCOUNT=stsouth\nSUPABASE_URL=https://p.supabase.co\nLLM_PROVIDER=offline\n"

func TestEdit(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	if _, err := m.Edit("southhaven"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no tenant: %v", err)
	}
	mustAdd(t, m, Change{
		Name: "southhaven", Settings: map[string]string{
			"AZURE_STORAGE_ACCOUNT": "stsouth", "SUPABASE_URL": "https://p.supabase.co", "LLM_PROVIDER": "offline",
			"LOG_LEVEL": "debug",
		},
		Secrets: map[string]config.Secret{"SUPABASE_KEY": config.NewSecret("k")},
	})
	path := filepath.Join(root, "etc/async-worker/southhaven.env")
	if err := os.Chmod(path, 0o604); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(path, 65534, 65533); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Edit("southhaven")
	if err != nil || !strings.Contains(e.Text, "LOG_LEVEL=debug\n") {
		t.Fatalf("%v: %q", err, e.Text)
	}
	if _, err := m.CheckEdit(e, edited); err != nil { // with the credential
		t.Error(err)
	}
	for text, name := range map[string]string{
		"LLM_PROVIDER offline\n":               e.Path,
		edited + "WORKER_CONCURRENCY=many\n":   "WORKER_CONCURRENCY",
		edited + "CLIENT_ID=northhaven\n":      "CLIENT_ID",
		"SUPABASE_URL=https://p.supabase.co\n": "AZURE_STORAGE_CONNECTION_STRING",
	} {
		_, err := m.CheckEdit(e, text)
		if problems, ok := errors.AsType[*config.Errors](err); !ok || !problems.Has(name) {
			t.Errorf("%q: %v, want a problem of %s", text, err, name)
		}
	}
	if got := e.ChangedBy(edited + "POLL_MAX_MS=500\n"); !slices.Equal(got, []string{"LOG_LEVEL", "POLL_MAX_MS"}) {
		t.Errorf("changed: %q", got)
	}
	if err := m.Apply(e, edited); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil || after.Mode() != before.Mode() || ownerOf(after) != ownerOf(before) {
		t.Errorf("%v: %v %v, was %v %v", err, after.Mode(), ownerOf(after), before.Mode(), ownerOf(before))
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != edited {
		t.Errorf("%v: %q", err, raw)
	}
	if err := m.Apply(e, "x"); !errors.Is(err, ErrChanged) { // it is not what the edit began with
		t.Errorf("over somebody else's: %v", err)
	}
	if err := errors.Join(os.Rename(path, path+".real"), os.Symlink("southhaven.env.real", path)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Edit("southhaven"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a link: %v", err)
	}
}
