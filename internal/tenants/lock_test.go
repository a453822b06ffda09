package tenants

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// held locks the folder of the settings, as any reader of them can.
func held(t *testing.T, root string) (release func()) {
	t.Helper()
	folder, err := os.Open(filepath.Join(root, settingsFolder))
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(folder.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { _ = folder.Close() }
}

// TestLockOfAnother: a change waits for another one, but not for ever: a token must be revoked while somebody holds the
// lock.
func TestLockOfAnother(t *testing.T) {
	t.Parallel()
	m, root := packaged(t)
	synctest.Test(t, func(t *testing.T) {
		release := held(t, root)
		time.AfterFunc(lockWait/2, release)
		if did := false; m.Exclusive(func() error { did = true; return nil }) != nil || !did {
			t.Error("it does not wait for another change")
		}
		defer held(t, root)()
		err := m.Exclusive(func() error { t.Error("it runs beside another change"); return nil })
		if err == nil || !strings.Contains(err.Error(), filepath.Join(root, settingsFolder)) ||
			!strings.Contains(err.Error(), "fuser") {
			t.Errorf("the lock is held: %v", err)
		}
	})
}
