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
