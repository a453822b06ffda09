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

// signNothing is for documents in a folder, which has no addresses to sign.
func (l *loader) signNothing() {
	const name = "EXPORT_URL_HOURS"
	if l.given(name) && l.cfg.ExportURL > 0 {
		l.warn(name, "it has no effect with BLOB_BACKEND=dir: a folder can't sign the address of a file",
			"leave it out: results name the blob")
	} else if _, read := l.cfg.values[name]; read && !l.given(name) {
		l.cfg.values[name] = resolved{"0", fromDefault, false}
	}
	l.cfg.ExportURL = 0
}

// checkFolder demands the folder of the documents, or one to make it in: a path whose folder has no parent either is most
// likely mistyped. In its state directory the worker makes all of the path, as nobody else can before the first start.
func (l *loader) checkFolder() {
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
		if _, err := os.Stat(filepath.Dir(dir)); errors.Is(err, fs.ErrNotExist) {
			l.problem("BLOB_DIR", "there is no folder "+quoted(dir)+", nor the one that it would be in",
				"correct the path, or make the folder and let the worker's user write to it")
		}
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
