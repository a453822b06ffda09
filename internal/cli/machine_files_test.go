package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/doctor"
)

// TestTenantsFileOfAnotherKind: a folder in place of a file is not a matter of rights, and the right path is named.
func TestTenantsFileOfAnotherKind(t *testing.T) {
	t.Parallel()
	const env, credentials = "etc/async-worker/southhaven.env", "etc/async-worker/credentials/southhaven"
	const directory = "problem: it is a directory remedy: move it away: it has to be a file with settings"
	const file = "move that file away: it has to be a folder"
	for _, c := range []struct {
		path    string
		folder  bool // in its place
		command string
		code    int
		says    string
	}{
		{env, true, "jobs list --tenant southhaven", exitConfig, directory},
		{env, true, "check-config --tenant southhaven", exitConfig, "problem: it is a directory"},
		{"etc/default/async-worker", true, "jobs list", exitConfig, directory},
		{credentials, false, "jobs list", exitConfig, "is a file remedy: " + file},
		{credentials, false, "tenant list", exitFailed, "southhaven: read PATH: not a directory what to do: " + file},
		{filepath.Dir(credentials), false, "jobs list", exitConfig, "is a file remedy: " + file},
	} {
		root := machineWith(t, "southhaven")
		path := filepath.Join(root, c.path)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(path, nil, 0o600)
		if c.folder {
			_ = os.Remove(path)
			err = os.Mkdir(path, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		r := invoke(t, app.Tenant{Store: &rows{}}, nil, "", append(strings.Fields(c.command), "--root", root)...)
		r.want(t, c.code, strings.ReplaceAll(c.says, "PATH", path), path)
		if strings.Contains(r.errOut, "run it as root") {
			t.Errorf("%s, %s: %s", c.path, c.command, r.errOut)
		}
		if c.path != env && strings.Contains(r.errOut, "southhaven.env") {
			t.Errorf("%s is named: %s", env, r.errOut)
		}
	}
}

// A file in a tenant's folder of credentials that is no setting's is said by the commands that look at settings.
func TestMisspelledCredential(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	putTenant(t, root, "southhaven", "127.0.0.1:1")
	write(t, filepath.Join(root, tenantsDir, "credentials", "southhaven", "OPENAI_APIKEY"), "TopSecret")
	others := slices.DeleteFunc(groupNames(), func(g string) bool { return g == string(doctor.Settings) })
	for _, command := range []string{"check-config", "doctor --skip " + strings.Join(others, ",")} {
		invoke(t, app.Tenant{}, nil, "", append(strings.Fields(command), "--root", root)...).want(t, exitOK,
			"OPENAI_APIKEY: unknown setting, in the folder of the credentials", "did you mean OPENAI_API_KEY?")
	}
}
