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
	if hides := l.hidden(dir); hides != "" {
		l.problem("BLOB_DIR", quoted(dir)+" is hidden from workers: their unit has a "+hides+" of its own, or none",
			"use "+filepath.Join(stateRoot, l.cfg.ClientID, "documents")+", or another folder that the unit shows, such as one "+
				"below /srv, and move the documents there")
		return
	}
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

// HiddenFolder returns the folder with a file that the unit hides from workers (ProtectHome=, PrivateTmp=), or that of the
// settings, which no worker may enter; empty: the file is in none of them.
func HiddenFolder(file string) string {
	for _, folder := range []string{"/root", "/home", "/run/user", "/tmp", "/var/tmp", "/etc/async-worker"} {
		if file == folder || strings.HasPrefix(file, folder+"/") {
			return folder
		}
	}
	return ""
}

// hidden returns the folder that the worker's unit hides and that dir is in; empty: there is none, or the worker has no
// unit. Within the unit a folder that exists is one that it shows (BindPaths=), as its /tmp is empty at each start.
func (l *loader) hidden(dir string) string {
	ofTenant, inUnit := l.src.Hidden != nil, l.env["STATE_DIRECTORY"] != ""
	if !ofTenant && !inUnit || l.inState(dir) || l.src.Shows != nil && l.src.Shows(l.cfg.ClientID) {
		return ""
	}
	target, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return HiddenFolder(dir)
	}
	if !ofTenant {
		return ""
	}
	return HiddenFolder(target)
}
