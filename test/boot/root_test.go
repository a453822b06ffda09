package boot

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/stack"
)

// recipe is what a Debian is made from; another recipe makes another root.
func recipe(suite string) []string {
	// The package's dependencies and recommendations are included, so that installing it needs no mirror.
	packages := []string{
		"systemd", "systemd-sysv", "dbus", "libnss-systemd", "init-system-helpers", "ca-certificates",
		"poppler-utils", "poppler-data", "tesseract-ocr", "tesseract-ocr-eng",
	}
	return []string{"--variant=minbase", "--include=" + strings.Join(packages, ","), suite}
}

// debian is a folder with a fresh Debian of the suite, used read-only. It is made once and kept in .tools.
func debian(t *testing.T, suite string) string {
	t.Helper()
	project, err := stack.Root()
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(project, ".tools", "boot")
	if err := os.MkdirAll(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	if kept, err = filepath.EvalSymlinks(kept); err != nil {
		t.Fatal(err)
	}
	unlock := lock(t, filepath.Join(kept, suite+".lock"))
	defer unlock()
	root := filepath.Join(kept, fmt.Sprintf("%s-%.6x", suite, sha256.Sum256([]byte(strings.Join(recipe(suite), " ")))))
	if _, err := os.Stat(root); err == nil {
		return root
	}
	needMirror(t, suite)
	old, _ := filepath.Glob(filepath.Join(kept, suite+"-*")) // the pattern is well-formed
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatalf("remove an older Debian: %v", err)
		}
	}
	t.Logf("making a Debian %s (once, about a minute)", suite)
	raw := root + ".raw"
	cmd := exec.CommandContext(t.Context(), "debootstrap", append(recipe(suite), raw, mirror())...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		err = prepare(raw)
	}
	if err == nil {
		err = os.Rename(raw, root)
	}
	if err != nil {
		_ = os.RemoveAll(raw) // the error that counts is the other one
		t.Fatalf("make a Debian %s: %v\n%s", suite, err, tail(string(out), 20))
	}
	return root
}

// prepare removes what differs between two machines, and the downloaded packages.
func prepare(root string) error {
	if err := os.WriteFile(filepath.Join(root, "etc", "machine-id"), nil, 0o644); err != nil {
		return err
	}
	fetched, err := filepath.Glob(filepath.Join(root, "var", "cache", "apt", "archives", "*.deb"))
	if err != nil {
		return err
	}
	for _, file := range fetched {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// lock waits for a lock that other processes use too.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatalf("lock %s: %v", path, err)
	}
	return func() { _ = f.Close() } // which unlocks it
}

// tail is the last n lines.
func tail(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
