package app

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/doctor"
)

// TestGroupLimit: the least limit of the control group and of those above it counts. A path that isn't below the mount, as in a
// container without a namespace of its own, leaves that of the mount.
func TestGroupLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		self  string
		files map[string]string
		bytes int64
		where string // below the mount
	}{
		"the unit's":     {"0::/a/b\n", map[string]string{"a/b/memory.high": "1000", "a/b/memory.max": "2000"}, 1000, "a/b/memory.high"},
		"above the unit": {"0::/a/b\n", map[string]string{"a/memory.max": "900", "a/b/memory.max": "2000"}, 900, "a/memory.max"},
		"no limit":       {"0::/a\n", map[string]string{"a/memory.high": "max", "a/memory.max": "max"}, 0, ""},
		"a container's":  {"0::/\n", map[string]string{"memory.max": "700"}, 700, "memory.max"},
		"not below":      {"0::/../../x\n", map[string]string{"memory.max": "700"}, 700, "memory.max"},
		"both versions":  {"4:memory:/x\n0::/a\n", map[string]string{"a/memory.max": "600", "x/memory.max": "1"}, 600, "a/memory.max"},
		"version 1":      {"4:memory:/a\n", map[string]string{"a/memory.max": "600"}, 0, ""},
	} {
		mount := t.TempDir()
		self := filepath.Join(mount, "cgroup")
		err := os.WriteFile(self, []byte(c.self), 0o600)
		for file, value := range c.files {
			path := filepath.Join(mount, file)
			err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(value+"\n"), 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		if l := groupLimit(self, mount); l.Bytes != c.bytes || strings.TrimPrefix(strings.TrimPrefix(l.Where, mount), "/") != c.where {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

// TestMemoryIsMissed: a worker that may have less memory than its settings need says so at its start, with both figures.
func TestMemoryIsMissed(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]string{1024 << 20: "", 1023 << 20: "needs_mib=1024 limit_mib=1023 limit=memory.max"} {
		var log strings.Builder
		tenant := &Tenant{Config: config.Config{ParserMemory: 768 << 20}, log: slog.New(slog.NewTextHandler(&log, nil))}
		tenant.warnOfMemory(doctor.MemoryLimit{Bytes: limit, Where: "memory.max"})
		if !strings.Contains(log.String(), want) || (want == "") != (log.Len() == 0) {
			t.Errorf("%d: %q", limit, log.String())
		}
	}
}

func TestUnitLimit(t *testing.T) {
	t.Parallel()
	for shown, want := range map[string]string{
		"MemoryHigh=1073741824\nMemoryMax=1342177280\n": "MemoryHigh= of u",
		"MemoryHigh=infinity\nMemoryMax=1342177280\n":   "MemoryMax= of u",
		"MemoryHigh=infinity\nMemoryMax=infinity\n":     "",
		"": "",
	} {
		if l := unitLimit(shown, "u"); l.Where != want || (l.Bytes > 0) != (want != "") {
			t.Errorf("%q: %+v", shown, l)
		}
	}
}
