package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The ids of the package's groups on a machine of these tests.
const (
	readersID   = 4711
	operatorsID = 4712
)

// packagedTenant makes the files of a tenant as the package and tenant add do.
func packagedTenant(t *testing.T, root string) {
	t.Helper()
	putTenant(t, root, "southhaven", "127.0.0.1:1")
	etc := filepath.Join(root, tenantsDir)
	err := filepath.WalkDir(etc, func(path string, d fs.DirEntry, err error) error {
		group, mode := operatorsID, os.FileMode(0o640)
		if path == etc || strings.HasSuffix(path, ".env") {
			group = readersID
		}
		if d.IsDir() {
			mode = 0o750 | fs.ModeSetgid
		}
		return errors.Join(err, os.Chown(path, 0, group), os.Chmod(path, mode))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// invokeAs runs the program as another user, and returns what it said as one line.
func invokeAs(t *testing.T, self, root string, who syscall.Credential, command string) (code int, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), self, append(strings.Fields(command), "--root", root)...)
	cmd.Env = []string{asProgram + "=1", "PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GORACE=" + os.Getenv("GORACE")}
	cmd.Dir, cmd.SysProcAttr = root, &syscall.SysProcAttr{Credential: &who}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Run()); ok {
		code = exit.ExitCode()
	}
	if strings.Contains(out.String(), "TopSecret") {
		t.Errorf("%s: a secret was printed", command)
	}
	return code, strings.Join(strings.Fields(out.String()), " ")
}

// TestOperator: a member of both groups uses a tenant's settings and credentials but can't change them; the error for a
// member of one group names both.
func TestOperator(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be other users")
	}
	root, self := openFolder(t)
	packagedTenant(t, root)
	const remedy = "run it as root (sudo), or as a member of the groups async-worker and async-worker-operators"
	member := func(groups ...uint32) syscall.Credential {
		return syscall.Credential{Uid: nobody, Gid: nobody, Groups: groups}
	}
	both := member(readersID, operatorsID)
	for _, c := range []struct {
		who     syscall.Credential
		command string
		code    int
		says    string
	}{
		{both, "check-config --tenant southhaven", exitOK, "The settings are fine."},
		{both, "check-config", exitOK, "The settings are fine."}, // the only tenant
		{both, "jobs list --tenant southhaven", exitUnavailable, "is the database up"},
		{both, "tenant list", exitOK, "DATABASE_URL"},
		{member(readersID), "jobs list --tenant southhaven", exitPermission, remedy},
		{member(readersID), "tenant list", exitOK, "southhaven"},
		{member(operatorsID), "jobs list --tenant southhaven", exitPermission, remedy},
		{member(), "jobs list", exitPermission, remedy},
		{member(), "tenant list", exitPermission, remedy},
		{both, "tenant add southhaven --force --log-level debug", exitPermission, "only root changes a tenant"},
		{both, "tenant add southhaven --force --secret SUPABASE_KEY", exitPermission, "only root changes a tenant"},
		{both, "tenant edit southhaven", exitPermission, "only root changes a tenant"},
		{both, "tenant remove southhaven --yes", exitPermission, "only root changes a tenant"},
	} {
		if code, said := invokeAs(t, self, root, c.who, c.command); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s as %v: exit %d, want %d and %q: %s", c.command, c.who.Groups, code, c.code, c.says, said)
		}
	}

	// Settings that only root may read do not hide the other tenants.
	closed := filepath.Join(root, tenantsDir, "northpier.env")
	if err := os.WriteFile(closed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, said := invokeAs(t, self, root, both, "tenant list")
	for _, part := range []string{"southhaven", "northpier", "unreadable", "tenant northpier: read ", remedy} {
		if code != exitPermission || !strings.Contains(said, part) {
			t.Errorf("tenant list: exit %d, want %d and %q: %s", code, exitPermission, part, said)
		}
	}
	if err := os.Remove(closed); err != nil {
		t.Fatal(err)
	}

	// A credential that operators may not read is not reported as a wrong setting.
	kept := filepath.Join(root, tenantsDir, "credentials/southhaven/OPENAI_API_KEY")
	if err := os.Chmod(kept, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, said := invokeAs(t, self, root, both, "jobs list --tenant southhaven"); code != exitPermission ||
		!strings.Contains(said, "OPENAI_API_KEY: permission denied") {
		t.Errorf("exit %d: %s", code, said)
	}
}
