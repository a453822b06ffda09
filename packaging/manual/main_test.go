package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/cli"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

// Every command in the help has its page, and the pages are the same each time.
func TestPages(t *testing.T) {
	t.Parallel()
	folder, again := t.TempDir(), t.TempDir()
	for _, f := range []string{folder, again} {
		if err := run([]string{"-date", "2026-11-21", "pages", f}, nil); err != nil {
			t.Fatal(err)
		}
	}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" {
			return
		}
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || !strings.Contains(string(page), cmd.Short) && cmd.Long == "" {
			t.Errorf("%s: %v", name, err)
		}
		if second, err := os.ReadFile(filepath.Join(again, name)); err != nil || string(second) != string(page) {
			t.Errorf("%s differs the second time: %v", name, err)
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(cli.Root())
	page, err := os.ReadFile(filepath.Join(folder, "async-worker.env.5"))
	if err != nil {
		t.Fatal(err)
	}
	var env bytes.Buffer
	if err := run([]string{"env"}, &env); err != nil {
		t.Fatal(err)
	}
	for _, s := range config.Settings() {
		if !strings.Contains(strings.ReplaceAll(string(page), "\\_", "_"), s.Name) {
			t.Errorf("%s is not in async-worker.env(5)", s.Name)
		}
		if strings.Count(env.String(), "\n#"+s.Name+"=") != 1 {
			t.Errorf("%s is not in the example once", s.Name)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"pages"}, {"env", "more"}, {"-date", "soon", "env"}} {
		if run(args, nil) == nil {
			t.Errorf("manual %q succeeds", args)
		}
	}
}
