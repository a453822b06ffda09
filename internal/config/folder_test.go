package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// TestFolder: documents in a folder need one that exists, or that the worker may make: in one that exists, or in its
// state directory. It signs no addresses.
func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		env           []string
		name, problem string // empty: none
		export        time.Duration
	}{
		{env: []string{"BLOB_DIR=" + dir}},
		{env: []string{"BLOB_DIR=" + dir, "EXPORT_URL_HOURS=0"}},
		{env: []string{"BLOB_DIR=" + dir, "EXPORT_URL_HOURS=24"}},
		{env: []string{"BLOB_DIR=" + dir + "/new"}},
		{env: []string{"BLOB_DIR=" + dir + "/mistyped/documents"}, name: "BLOB_DIR", problem: "there is no folder"},
		{env: []string{"BLOB_DIR=" + file}, name: "BLOB_DIR", problem: "not a folder"},
		{env: []string{"BLOB_DIR=/var/lib/async-worker/no-tenant/documents", "CLIENT_ID=no-tenant"}},
		{env: []string{"BLOB_DIR=/var/lib/async-worker/no-tenant2/documents", "CLIENT_ID=no-tenant"}, name: "BLOB_DIR"},
		{env: []string{"BLOB_DIR=" + dir + "/state/documents", "STATE_DIRECTORY=" + dir + "/state:/other"}},
		{env: []string{"BLOB_DIR=/tmp/no-documents", "STATE_DIRECTORY=/var/lib/async-worker/x"}, name: "BLOB_DIR", problem: "hidden from workers"},
		{env: []string{"BLOB_DIR=/home/no-one/documents", "STATE_DIRECTORY=/x"}, name: "BLOB_DIR", problem: "hidden from workers"},
		{env: []string{"BLOB_DIR=/tmp/no-documents"}},
		{env: []string{"BLOB_DIR=" + dir, "STATE_DIRECTORY=/x"}}, // a folder that the unit shows
		{env: []string{"BLOB_BACKEND=azure"}, export: 24 * time.Hour},
	} {
		got, problems := load(t, minimal(append([]string{"BLOB_BACKEND=dir"}, c.env...)...), nil, nil)
		told := warned(got) == slices.Contains(c.env, "EXPORT_URL_HOURS=24")
		switch {
		case c.name == "" && (problems != nil || got.ExportURL != c.export || !told):
			t.Errorf("%v: %v, EXPORT_URL_HOURS %s", c.env, problems, got.ExportURL)
		case c.name != "" && (len(problems) != 1 || problems[0].Name != c.name ||
			!strings.Contains(problems[0].Problem, c.problem) || problems[0].Remedy == ""):
			t.Errorf("%v: %v", c.env, problems)
		}
	}
}

// warned reports whether it is said that EXPORT_URL_HOURS has no effect.
func warned(c config.Config) bool {
	return slices.ContainsFunc(c.Warnings(), func(p config.Problem) bool { return p.Name == "EXPORT_URL_HOURS" })
}

// TestFolderOfATenant: outside of the unit the folders that it hides are there, and are not the worker's.
func TestFolderOfATenant(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/var/tmp", link); err != nil {
		t.Fatal(err)
	}
	for dir, hidden := range map[string]bool{
		"/tmp": true, "/tmp/documents": true, "/var/tmp/documents": true, "/home/ann/documents": true, "/root/documents": true,
		"/run/user/1000/documents": true, "/etc/async-worker/documents": true, link: true,
		"/srv/documents": false, "/tmpfs": false, "/var/lib/async-worker/acme/documents": false,
	} {
		_, err := config.Load(config.Sources{
			Environ:  minimal("CLIENT_ID=acme", "BLOB_BACKEND=dir", "BLOB_DIR="+dir),
			ReadFile: files{}.read, Hidden: func(string) string { return "" },
		}, config.All)
		if got := err != nil && strings.Contains(err.Error(), "is hidden from workers") &&
			strings.Contains(err.Error(), "use /var/lib/async-worker/acme/documents"); got != hidden || err != nil && !got {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
