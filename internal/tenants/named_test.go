package tenants

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// Root, who checks the settings, can read every file; the worker's user only what everybody can, outside the folders
// that its unit hides.
func TestNamedFilesThatTheWorkerCantRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file           string
		folder, access os.FileMode
		problem        string // empty: none
	}{
		{"/etc/ssl/tokens/x", 0o755, 0o644, ""},
		{"/etc/ssl/tokens/x", 0o711, 0o604, ""},
		{"/etc/ssl/tokens/x", 0o755, 0o640, "/etc/ssl/tokens/x has the mode 0640"},
		{"/etc/ssl/tokens/x", 0o710, 0o644, "/etc/ssl/tokens has the mode 0710"},
		{"/root/x", 0o755, 0o644, "/root is hidden from workers"},
		{"/home/ann/x", 0o755, 0o644, "/home is hidden from workers"},
		{"/etc/async-worker/tls/x", 0o755, 0o644, "/etc/async-worker is hidden from workers"},
		{"/srv/../etc/async-worker/x", 0o755, 0o644, "/etc/async-worker is hidden from workers"},
	} {
		m, root := machine(t)
		path := filepath.Join(root, c.file)
		err := errors.Join(os.MkdirAll(filepath.Join(root, "srv"), 0o755), os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, []byte("0123456789abcdef0123456789abcdef\n"), 0o600),
			os.Chmod(path, c.access), os.Chmod(filepath.Dir(path), c.folder))
		if err != nil {
			t.Fatal(err)
		}
		change := valid("southhaven")
		change.Settings["HTTP_TOKEN_FILE"] = c.file
		warnings := mustAdd(t, m, change).Warnings
		i := slices.IndexFunc(warnings, func(w config.Problem) bool { return w.Name == "HTTP_TOKEN_FILE" })
		switch {
		case i < 0 && c.problem == "":
		case i < 0, c.problem == "", !strings.Contains(warnings[i].Problem, c.problem), warnings[i].Remedy == "":
			t.Errorf("%+v: %+v", c, warnings)
		}
	}
}

// A folder of documents that the unit hides is refused, unless a drop-in shows it.
func TestFolderThatTheUnitHides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dropIn, text string
		hidden       bool
	}{
		{hidden: true},
		{"async-worker@southhaven.service.d/documents.conf", "[Service]\nBindPaths=/home/ann/documents\n", false},
		{"async-worker@.service.d/documents.conf", "[Service]\nProtectHome=no\n", false},
		{"async-worker@.service", "[Service]\nProtectHome=no\n", false}, // systemctl edit --full
		{"async-worker@.service.d/documents.conf", "[Service]\nMemoryMax=2G\n", true},
		{"async-worker@northhaven.service.d/documents.conf", "[Service]\nProtectHome=no\n", true},
	} {
		m, root := machine(t)
		if c.dropIn != "" {
			file := filepath.Join(root, "etc/systemd/system", c.dropIn)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(c.text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		change := valid("southhaven")
		change.Settings["BLOB_BACKEND"], change.Settings["BLOB_DIR"] = "dir", "/tmp/documents"
		_, err := m.Add(change)
		if got := err != nil && strings.Contains(err.Error(), "hidden from workers"); got != c.hidden || err != nil && !got {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A file of DATABASE_URL may be there for the worker alone: in an image, or among its unit's credentials.
func TestDatabaseFilesOfTheWorker(t *testing.T) {
	t.Parallel()
	m, _ := machine(t)
	change := valid("southhaven")
	change.Settings["DATABASE_URL"] = "postgres://w@db.example/app?sslmode=verify-full&sslrootcert=/run/credentials/x/ca"
	var got []string
	for _, w := range mustAdd(t, m, change).Warnings {
		if w.Name == "DATABASE_URL" && strings.Contains(w.Problem, "does not exist here") {
			got = append(got, w.Problem)
		}
	}
	if len(got) != 1 {
		t.Errorf("warned of %q", got)
	}
}

// What no setting and no library is called is told, in a tenant's own file and among its credentials.
func TestUnknownNamesAreTold(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	mustAdd(t, m, valid("southhaven"))
	env := filepath.Join(root, envPath("southhaven"))
	text, err := os.ReadFile(env)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.WriteFile(env, append(text, "OPENAI_API_BASE=http://llm.internal/v1\nHTTPS_PROXY=http://proxy:3128\n"...), 0o600),
		os.MkdirAll(filepath.Join(root, secretsPath("southhaven")), 0o700),
		os.WriteFile(filepath.Join(root, secretsPath("southhaven"), "SUPABASE_SERVICE_KEY"), []byte("x"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	change := valid("southhaven")
	change.Force = true
	var got []string
	for _, w := range mustAdd(t, m, change).Warnings {
		if strings.Contains(w.Problem, "the worker ignores it") {
			got = append(got, w.Name)
		}
	}
	if want := []string{"OPENAI_API_BASE", "SUPABASE_SERVICE_KEY"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
