package dir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// TestLinksThatRootFollows: root, which acts for a worker, follows the links of root in folders of root, such as that of a
// state directory; but none that the worker may have made, in the folder's name or above it.
func TestLinksThatRootFollows(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root acts for other users")
	}
	const worker, other = 4711, 4712
	type link struct{ at, to string } // to is relative, or begins with / and is in the test's folder
	for name, c := range map[string]struct {
		folders map[string]int // their owners
		links   map[link]int
		blobs   string
		refused string
	}{
		"no link": {map[string]int{"south": worker, "south/documents": worker}, nil, "south/documents", ""},
		"a mount of somebody else": {
			map[string]int{"mnt": other, "mnt/disk": other, "mnt/disk/documents": worker}, nil, "mnt/disk/documents", "",
		},
		"a state directory": {
			map[string]int{"private": 0, "private/south": worker, "private/south/documents": worker},
			map[link]int{{"south", "private/south"}: 0},
			"south/documents", "",
		},
		"root's link to a path": {
			map[string]int{"disk": worker, "disk/documents": worker},
			map[link]int{{"south", "/disk"}: 0},
			"south/documents", "",
		},
		"the worker's folder is a link": {
			map[string]int{"south": worker, "north": other},
			map[link]int{{"south/documents", "../north"}: worker},
			"south/documents", "south/documents",
		},
		"it stays in the worker's folder": {
			map[string]int{"south": worker, "south/north": other},
			map[link]int{{"south/documents", "north"}: worker},
			"south/documents", "south/documents",
		},
		"a folder above it is a link": {
			map[string]int{"south": worker, "north": other, "north/documents": other},
			map[link]int{{"south/a", "/north"}: worker},
			"south/a/documents", "south/a",
		},
		"root's link, where the worker could have put it": {
			map[string]int{"south": worker, "north": other},
			map[link]int{{"south/documents", "../north"}: 0},
			"south/documents", "south/documents",
		},
		"root's link leads to the worker's": {
			map[string]int{"state": worker, "north": other},
			map[link]int{{"south", "state"}: 0, {"state/documents", "../north"}: worker},
			"south/documents", "state/documents",
		},
		"a loop": {nil, map[link]int{{"south", "south"}: 0}, "south", "too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			for folder, owner := range c.folders {
				path := filepath.Join(top, folder)
				if err := errors.Join(os.MkdirAll(path, 0o755), os.Chown(path, owner, owner)); err != nil {
					t.Fatal(err)
				}
			}
			for l, owner := range c.links {
				to, path := l.to, filepath.Join(top, l.at)
				if filepath.IsAbs(to) {
					to = filepath.Join(top, to)
				}
				if err := errors.Join(os.Symlink(to, path), os.Lchown(path, owner, owner)); err != nil {
					t.Fatal(err)
				}
			}
			b := dir.New(filepath.Join(top, c.blobs))
			_, put := b.Put(t.Context(), "a.txt", strings.NewReader("x"), "")
			_, denied := b.Denied(t.Context(), 10)
			var listed error
			for _, err := range b.List(t.Context(), "") {
				listed = err
			}
			for doing, err := range map[string]error{"put": put, "denied": denied, "list": listed, "ensure": b.Ensure(t.Context())} {
				problem, ok := errors.AsType[*taskerr.Error](err)
				switch {
				case c.refused == "" && err != nil:
					t.Errorf("%s: %v", doing, err)
				case c.refused != "" && (!ok || !strings.Contains(err.Error(), c.refused)):
					t.Errorf("%s: %v, want an error about %s", doing, err, c.refused)
				case c.refused != "" && c.refused != "too many" && problem.Hint == "":
					t.Errorf("%s: %v: it doesn't say what to do", doing, err)
				}
			}
			if c.refused != "" {
				return
			}
			if _, err := b.Stat(t.Context(), "a.txt"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRootMakesNoFolderBehindALink: what is missing is made in the folder itself, as deep as it is, and not where a link of
// the worker leads.
func TestRootMakesNoFolderBehindALink(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root acts for other users")
	}
	top := t.TempDir()
	south, north := filepath.Join(top, "south"), filepath.Join(top, "north")
	link := filepath.Join(south, "a")
	if err := errors.Join(os.Mkdir(south, 0o755), os.Mkdir(north, 0o755), os.Chown(south, 4711, 4711), os.Symlink(north, link),
		os.Lchown(link, 4711, 4711)); err != nil {
		t.Fatal(err)
	}
	if err := dir.New(filepath.Join(link, "documents")).Ensure(t.Context()); err == nil {
		t.Error("made behind a link")
	}
	if made, err := os.ReadDir(north); err != nil || len(made) > 0 {
		t.Errorf("made in another folder: %v, %v", made, err)
	}
	b := dir.New(filepath.Join(south, "b", "documents"))
	if err := errors.Join(b.Ensure(t.Context()), b.Ensure(t.Context()), b.Exists(t.Context())); err != nil {
		t.Error(err)
	}
}
