package tenants

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// stranger is a group that this user can assign only as root.
const stranger = 4711

// TestGroupsOfThePackage: the package creates the groups named here.
func TestGroupsOfThePackage(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../packaging/debian/sysusers.conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{Readers, Operators} {
		if !strings.Contains(string(raw), "\ng "+group+" -\n") {
			t.Errorf("sysusers.conf does not create the group %s", group)
		}
	}
}

// packaged returns a machine with the folders that the package creates.
func packaged(t *testing.T) (*Machine, string) {
	t.Helper()
	m, root := machine(t)
	folder := filepath.Join(root, credentialsFolder)
	err := errors.Join(os.MkdirAll(folder, 0o750), os.Chmod(filepath.Dir(folder), 0o750))
	if err == nil && os.Geteuid() == 0 {
		err = os.Chown(folder, 0, stranger)
	}
	if err = errors.Join(err, os.Chmod(folder, 0o750|fs.ModeSetgid)); err != nil {
		t.Fatal(err)
	}
	return m, root
}

// wantAccess fails the test unless a file has a mode and, as root, a group.
func wantAccess(t *testing.T, path string, mode fs.FileMode, group uint32) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode() &^ fs.ModeDir; got != mode {
		t.Errorf("%s has the mode %v, want %v", path, got, mode)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 && (s.Uid != 0 || s.Gid != group) {
		t.Errorf("%s belongs to %d:%d, want 0:%d", path, s.Uid, s.Gid, group)
	}
}

// TestOperatorsRead: credentials belong to the group of the package's folder, and to nobody else.
func TestOperatorsRead(t *testing.T) {
	t.Parallel()
	m, root := packaged(t)
	mustAdd(t, m, valid("southhaven"))
	folder := filepath.Join(root, secretsPath("southhaven"))
	wantAccess(t, filepath.Dir(folder), 0o750|fs.ModeSetgid, stranger)
	wantAccess(t, folder, 0o750|fs.ModeSetgid, stranger)
	wantAccess(t, filepath.Join(folder, "SUPABASE_KEY"), 0o640, stranger)
	wantAccess(t, filepath.Join(root, envPath("southhaven")), 0o640, 0)
}

// rotated returns valid with another key.
func rotated(name string) Change {
	c := valid(name)
	c.Secrets = map[string]config.Secret{"SUPABASE_KEY": config.NewSecret("sb_secret_new")}
	c.Force = true
	return c
}

// TestAdministratorsChoiceStays: a tenant's folder that only root may read stays so, with its secrets; access for
// everybody is removed.
func TestAdministratorsChoiceStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		made, want, file fs.FileMode
	}{
		"root alone":       {0o700, 0o700, 0o600},
		"group":            {0o750, 0o750, 0o640},
		"everybody":        {0o755, 0o750, 0o640},
		"group writes":     {0o770 | fs.ModeSetgid, 0o750 | fs.ModeSetgid, 0o640},
		"group can't list": {0o710, 0o710, 0o600},
	} {
		m, root := packaged(t)
		mustAdd(t, m, valid("southhaven"))
		folder := filepath.Join(root, secretsPath("southhaven"))
		var err error
		if os.Geteuid() == 0 {
			err = os.Chown(folder, 0, stranger+1)
		}
		if err = errors.Join(err, os.Chmod(folder, c.made)); err != nil {
			t.Fatal(err)
		}
		mustAdd(t, m, rotated("southhaven"))
		t.Log(name)
		wantAccess(t, folder, c.want, stranger+1)
		wantAccess(t, filepath.Join(folder, "SUPABASE_KEY"), c.file,
			map[bool]uint32{true: stranger + 1}[c.file == 0o640])
	}
}

// TestSettingsKeepTheirOwner: a new secret leaves the environment file alone; a new setting keeps its owner and mode, and
// does not put a file in the place of a link.
func TestSettingsKeepTheirOwner(t *testing.T) {
	t.Parallel()
	m, root := packaged(t)
	mustAdd(t, m, valid("southhaven"))
	file := filepath.Join(root, envPath("southhaven"))
	err := os.Chmod(file, 0o600)
	if os.Geteuid() == 0 {
		err = errors.Join(err, os.Chown(file, 0, stranger))
	}
	before, statErr := os.Stat(file)
	if err = errors.Join(err, statErr); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, m, rotated("southhaven"))
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
		t.Errorf("a secret's change rewrote the settings: %v", err)
	}
	busier := Change{Name: "southhaven", Force: true, Settings: map[string]string{"WORKER_CONCURRENCY": "8"}}
	mustAdd(t, m, busier)
	wantAccess(t, file, 0o600, stranger)

	target := filepath.Join(root, settingsFolder, "elsewhere")
	if err := errors.Join(os.Rename(file, target), os.Symlink("elsewhere", file)); err != nil {
		t.Fatal(err)
	}
	busier.Settings["WORKER_CONCURRENCY"] = "9"
	busier.Secrets = map[string]config.Secret{"SUPABASE_KEY": config.NewSecret("sb_secret_newer")}
	if _, err := m.Add(busier); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("through a link: %v", err)
	}
	if key, err := m.Secret("southhaven", "SUPABASE_KEY"); err != nil || key.Reveal() != "sb_secret_new" {
		t.Errorf("the refused change wrote a secret: %v", err)
	}
	busier.Settings = nil
	mustAdd(t, m, busier)
	if info, err := os.Lstat(file); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
	}
}

// TestFolderOfAnotherUser: systemd creates a folder for an unknown instance that it starts, owned by the worker. It
// becomes root's, with the operators' group.
func TestFolderOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to create another user's folder")
	}
	m, root := packaged(t)
	folder := filepath.Join(root, secretsPath("southhaven"))
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Chown(folder, 61184, 61184)); err != nil {
		t.Fatal(err)
	}
	mustAdd(t, m, valid("southhaven"))
	wantAccess(t, folder, 0o750|fs.ModeSetgid, stranger)
}

// TestWritable: a user who may not change tenants learns it before any question or change.
func TestWritable(t *testing.T) {
	t.Parallel()
	m, root := packaged(t)
	if err := m.Writable(); err != nil {
		t.Errorf("to its owner: %v", err)
	}
	if os.Geteuid() == 0 {
		return // root may do everything
	}
	if err := os.Chmod(filepath.Join(root, settingsFolder), 0o550); err != nil {
		t.Fatal(err)
	}
	if err := m.Writable(); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("without the right to write: %v", err)
	}
	if err := os.Chmod(filepath.Join(root, settingsFolder), 0o750); err != nil {
		t.Fatal(err)
	}
}

// TestNamedFilesBehindLinks: on this machine a setting may name a file by an absolute link, as Debian's certificates have
// them. In the tree of an image that link would lead out of it.
func TestNamedFilesBehindLinks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	link := filepath.Join(folder, "link.pem")
	if err := errors.Join(os.WriteFile(filepath.Join(folder, "ca.pem"), []byte("the authority"), 0o600),
		os.Symlink(filepath.Join(folder, "ca.pem"), link)); err != nil {
		t.Fatal(err)
	}
	here, err := Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	for _, name := range []string{link, strings.TrimPrefix(link, "/")} {
		if text, err := here.readNamed(name); err != nil || string(text) != "the authority" {
			t.Errorf("%s on this machine: %q, %v", name, text, err)
		}
	}
	image, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	if text, err := image.readNamed("/link.pem"); err == nil {
		t.Errorf("out of an image: %q", text)
	}
	if text, err := image.readNamed("/ca.pem"); err != nil || string(text) != "the authority" {
		t.Errorf("in an image: %q, %v", text, err)
	}
}
