package stack

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestRemoveAbandoned: the files of a server that is gone are removed, those of one that runs, or was just begun, stay.
func TestRemoveAbandoned(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	for name, c := range map[string]struct {
		pid string
		at  time.Time
	}{
		"gone": {"999999999\n", old}, "stopped": {"", old}, "new": {"", time.Now()},
		"running": {strconv.Itoa(os.Getpid()) + "\nmore", old},
	} {
		cluster := filepath.Join(folder, "async-worker-postgres-"+name)
		if err := os.MkdirAll(filepath.Join(cluster, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		if c.pid != "" {
			if err := os.WriteFile(filepath.Join(cluster, "data", "postmaster.pid"), []byte(c.pid), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(cluster, c.at, c.at); err != nil {
			t.Fatal(err)
		}
	}
	removeAbandoned(folder, time.Hour)
	left, err := filepath.Glob(filepath.Join(folder, "*"))
	want := []string{
		filepath.Join(folder, "async-worker-postgres-new"), filepath.Join(folder, "async-worker-postgres-running"),
	}
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %v, %v", left, err)
	}
}
