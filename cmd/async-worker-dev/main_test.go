package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "async-worker")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"help":               {[]string{"--help"}, 0, "Usage: async-worker-dev"},
		"an unknown flag":    {[]string{"--twice"}, 2, "async-worker-dev --help"},
		"an unknown backend": {[]string{"--backend", "kafka"}, 2, "the other backends are postgres and nats"},
		"an argument":        {[]string{"tour"}, 2, `takes no argument, got "tour"`},
		"no worker program":  {[]string{"--worker", missing}, 2, "make run builds"},
	} {
		var out bytes.Buffer
		if code := run(t.Context(), c.args, nil, &out, &out); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s", name, code, c.code, c.want, out.String())
		}
	}
}
