package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/blob/dir"
)

// TestFolderOfATenant: what root's commands make in the folder of a tenant's documents is the folder's owner's, they
// don't make the folder, and doctor finds what the owner can't use.
func TestFolderOfATenant(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files to another user")
	}
	const worker = 4711
	root := t.TempDir()
	shown, err := os.MkdirTemp("/dev/shm", "blobs") //nolint:usetesting // a tenant's worker would not see a folder below /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(shown) })
	folder, document := filepath.Join(shown, "blobs"), filepath.Join(root, "a.md")
	putTenant(t, root, "southhaven", "127.0.0.1:1")
	write(t, filepath.Join(root, tenantsDir, "southhaven.env"), "LLM_PROVIDER=offline\nBLOB_BACKEND=dir\nBLOB_DIR="+folder+"\n")
	write(t, document, "content")
	w := ward{client: "southhaven", key: "TopSecret"}
	doctor := func() (string, int, string) {
		sick, code := w.sick(t, nil, "--root", root, "--tenant", "southhaven",
			"--skip", "settings,queues,store,models,docling,gateway,webhooks,events,cognee,clock")
		return names(sick), code, sick["container"].Seen
	}
	o, _ := office(&rows{})
	o.Bucket = dir.New(folder)
	upload := []string{
		"enqueue", "--root", root, "--tenant", "southhaven", "--upload", document, "--blob", "2026/a.md", "--document-set", "s",
	}

	if sick, code, _ := doctor(); sick != "warn container" || code != exitOK {
		t.Errorf("no folder: exit %d, %s", code, sick)
	}
	invoke(t, o, nil, "", upload...).want(t, exitUnavailable, "the folder of the blobs doesn't exist", "start")
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the folder was made: %v", err)
	}

	if err := errors.Join(os.Mkdir(folder, 0o700), os.Chown(folder, worker, worker)); err != nil {
		t.Fatal(err)
	}
	invoke(t, o, nil, "", upload...).want(t, exitOK)
	if sick, code, _ := doctor(); sick != "" || code != exitOK {
		t.Errorf("the owner's folder: exit %d, %s", code, sick)
	}
	for _, made := range []string{".unfinished-uploads", "derived", "2026/a.md"} {
		info, err := os.Stat(filepath.Join(folder, made))
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Uid != worker {
			t.Errorf("%s is not the owner's", made)
		}
	}

	if err := os.Chown(filepath.Join(folder, "derived"), 0, 0); err != nil {
		t.Fatal(err)
	}
	if sick, code, seen := doctor(); sick != "fail container" || code != exitPermission ||
		!strings.Contains(seen, "blobs/derived belongs to user 0") {
		t.Errorf("root's folder in it: exit %d, %s: %s", code, sick, seen)
	}
}

// TestFolderThatTheUnitHides: documents below /tmp are not what the worker of a tenant finds there.
func TestFolderThatTheUnitHides(t *testing.T) {
	t.Parallel()
	root := machineWith(t, "southhaven")
	write(t, filepath.Join(root, tenantsDir, "southhaven.env"), "LLM_PROVIDER=offline\nBLOB_BACKEND=dir\nBLOB_DIR=/tmp/documents\n")
	for _, command := range [][]string{
		{"check-config"}, {"doctor", "--skip", "queues,store,models,docling,gateway,webhooks,events,cognee,clock,machine,unit"},
	} {
		invoke(t, app.Tenant{}, nil, "", append(command, "--root", root, "--tenant", "southhaven")...).want(t, exitConfig,
			`"/tmp/documents" is hidden from workers`, "use /var/lib/async-worker/southhaven/documents")
	}
	invoke(t, app.Tenant{}, nil, "", "tenant", "add", "northhaven", "--root", root, "--blob-backend", "dir",
		"--blob-dir", "/home/ann/documents", "--llm-provider", "offline").want(t, exitConfig, `"/home/ann/documents" is hidden from workers`)
}
