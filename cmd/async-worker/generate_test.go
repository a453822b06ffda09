package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// Every command that people see has its page, and the pages are the same each time.
func TestGenerateManual(t *testing.T) {
	t.Parallel()
	folder, again := t.TempDir(), t.TempDir()
	for _, f := range []string{folder, again} {
		withManager(t, nil, "", "generate", "man", "--date", "2026-11-21", f).want(t, exitOK)
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "dev" {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !strings.Contains(string(page), cmd.Short) && cmd.Long == "" {
			t.Errorf("%s: %v", name, err)
		}
		if second, err := os.ReadFile(filepath.Join(again, name)); err != nil || string(second) != string(page) {
			t.Errorf("%s is another the second time: %v", name, err)
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk((&program{}).newRootCommand())
	settings, err := os.ReadFile(filepath.Join(folder, "async-worker.env.5"))
	if err != nil {
		t.Fatal(err)
	}
	env := withManager(t, nil, "", "generate", "env")
	for _, s := range config.Settings() {
		if !strings.Contains(strings.ReplaceAll(string(settings), "\\_", "_"), s.Name) {
			t.Errorf("%s is not in async-worker.env(5)", s.Name)
		}
		if strings.Count(env.out, "\n#"+s.Name+"=") != 1 {
			t.Errorf("%s is not in the example once", s.Name)
		}
	}
	withManager(t, nil, "", "generate", "man", "--date", "soon", folder).want(t, exitUsage, "is no date")
}
