package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Only root can generate docs/commands.md: for another user make docs generates the rest, says so, and ends with an error.
func TestMakeDocs(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("make")
	if err != nil {
		t.Skip("there is no make")
	}
	for user, c := range map[string]struct {
		fine bool
		says string
	}{
		"0":    {true, "go test ./internal/cli -run TestCommandTable -update\n"},
		"1000": {false, "docs: docs/commands.md is not generated (the rest is): its test acts as other users; run as root: make docs\n"},
	} {
		bin := t.TempDir()
		for name, script := range map[string]string{"id": "echo " + user, "go": `echo "go $*"`} {
			if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), path, "--old-file=test-deps", "docs")
		cmd.Dir, cmd.Env = "..", []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		said := string(out)
		if (err == nil) != c.fine || !strings.Contains(said, c.says) || !strings.Contains(said, "go test ./internal/api ") ||
			!c.fine && strings.Contains(said, "TestCommandTable") {
			t.Errorf("user %s: %v, it says %q; want %q", user, err, said, c.says)
		}
	}
	// The tests that generate want a server.
	if makefile, err := os.ReadFile("../Makefile"); err != nil || !strings.Contains(string(makefile), "\ndocs: test-deps ") {
		t.Errorf("docs does not install what its tests need; %v", err)
	}
}
