package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// stateRoot is where the packaged unit has the folder of each tenant that its worker may write to (StateDirectory).
const stateRoot = "/var/lib/async-worker"

// checkFolder demands the folder of the documents, and no addresses of what is in it. A folder that does not exist is
// most likely mistyped; only in its state directory the worker makes one, as nobody else can before the first start.
func (l *loader) checkFolder(groups Group) {
	if groups&Worker != 0 && l.given("EXPORT_URL_HOURS") && l.cfg.ExportURL > 0 {
		l.problem("EXPORT_URL_HOURS", "it is not 0, and BLOB_BACKEND is dir: a folder can't sign the address of a file",
			"leave it out: results name the blob then; or use BLOB_BACKEND=azure")
	}
	if !l.given("BLOB_DIR") {
		l.problem("BLOB_DIR", "it is not set, and BLOB_BACKEND is dir", "set it to the folder of the documents")
		return
	}
	if !l.fine("BLOB_DIR") {
		return
	}
	dir := l.cfg.BlobDir
	switch info, err := os.Stat(dir); {
	case err == nil && !info.IsDir():
		l.problem("BLOB_DIR", quoted(dir)+" is not a folder", "set it to the folder of the documents")
	case errors.Is(err, fs.ErrNotExist) && !l.inState(dir):
		l.problem("BLOB_DIR", "there is no folder "+quoted(dir),
			"correct the path, or make the folder and let the worker's user write to it")
	}
}

// inState reports whether a path is in the state directory of the tenant's worker.
func (l *loader) inState(path string) bool {
	for _, state := range []string{firstPath(l.env["STATE_DIRECTORY"]), filepath.Join(stateRoot, l.cfg.ClientID)} {
		if state != "" && strings.HasPrefix(path, filepath.Clean(state)+"/") {
			return true
		}
	}
	return false
}
