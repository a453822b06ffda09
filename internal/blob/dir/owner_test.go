package dir_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
)

// TestWhatRootMakesIsTheOwners: root writes for a worker that is another user, which can use what root has made.
func TestWhatRootMakesIsTheOwners(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	const uid, gid = 4711, 4712
	folder := filepath.Join(t.TempDir(), "blobs")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Chown(folder, uid, gid), os.Chmod(folder, 0o770|fs.ModeSetgid)); err != nil {
		t.Fatal(err)
	}
	b := dir.New(folder)
	_, put := b.Put(t.Context(), "2026/report/a.pdf", strings.NewReader("x"), "")
	_, putNew := b.PutNew(t.Context(), "derived/a.txt", strings.NewReader("x"), "")
	if err := errors.Join(put, putNew, b.TryWrite(t.Context(), 1)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Uid != uid || s.Gid != gid {
			t.Errorf("%s is of user %d and group %d, want %d and %d", path, s.Uid, s.Gid, uid, gid)
		}
		if info.IsDir() && info.Mode() != fs.ModeDir|fs.ModeSetgid|0o770 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if denied, err := b.Denied(t.Context(), 100); denied != "" || err != nil {
		t.Errorf("denied: %q, %v", denied, err)
	}
}

// TestDenied: what a folder's owner, or its group if it is root's, can't use is found, unless it is beyond the bound.
func TestDenied(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	const worker, group, most = 4711, 4712, 10
	type entry struct {
		name     string // a folder ends with /
		uid, gid int
		mode     fs.FileMode
	}
	for name, c := range map[string]struct {
		entries []entry
		want    string
		most    int
	}{
		"all is the worker's":       {[]entry{{"./", worker, group, 0o700}, {"derived/", worker, group, 0o700}}, "", most},
		"root's document":           {[]entry{{"./", worker, group, 0o700}, {"a.pdf", 0, 0, 0o640}}, "a.pdf", most},
		"beyond the bound":          {[]entry{{"./", worker, group, 0o700}, {"a.pdf", 0, 0, 0o640}}, "", 1},
		"for all to read":           {[]entry{{"./", worker, group, 0o700}, {"a/", 0, 0, 0o755}, {"a/b", 0, 0, 0o644}}, "", most},
		"root's worker folder":      {[]entry{{"./", worker, group, 0o700}, {"exports/", 0, 0, 0o755}}, "exports", most},
		"the owner may not":         {[]entry{{"./", worker, group, 0o570}}, "blobs", most},
		"root's alone":              {[]entry{{"./", 0, 0, 0o750}}, "blobs", most},
		"the group's":               {[]entry{{"./", 0, group, 0o770}, {"results/", 0, group, 0o770}}, "", most},
		"a file of another's group": {[]entry{{"./", 0, group, 0o770}, {"a.pdf", 0, 0, 0o640}}, "a.pdf", most},
	} {
		folder := filepath.Join(t.TempDir(), "blobs")
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, e := range c.entries {
			path := filepath.Join(folder, e.name)
			var err error
			if strings.HasSuffix(e.name, "/") {
				err = os.MkdirAll(path, 0o700)
			} else {
				err = os.WriteFile(path, nil, 0o600)
			}
			if err := errors.Join(err, os.Chown(path, e.uid, e.gid), os.Chmod(path, e.mode)); err != nil {
				t.Fatal(err)
			}
		}
		denied, err := dir.New(folder).Denied(t.Context(), c.most)
		if path, _, _ := strings.Cut(denied, " "); err != nil || (path == "") != (c.want == "") ||
			path != "" && filepath.Base(path) != c.want {
			t.Errorf("%s: %q, %v, want %q", name, denied, err, c.want)
		}
	}
}
