package tenants

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// hiddenFolders are the folders that the unit hides from workers (ProtectHome=, PrivateTmp=), and that of the settings,
// which no worker may enter.
var hiddenFolders = []string{"/root", "/home", "/run/user", "/tmp", "/var/tmp", "/" + settingsFolder}

// Hidden returns why a worker of this machine can't read a file that root can; empty: it can. A worker's user is in no
// group but its own, so it reads what everybody can.
func Hidden(file string) string {
	if target, err := filepath.EvalSymlinks(path.Join("/", file)); err == nil {
		file = target
	}
	return hidden(file, os.Stat)
}

func (m *Machine) hidden(file string) string {
	if m.prefix == "" {
		return Hidden(file)
	}
	return hidden(file, func(name string) (fs.FileInfo, error) { return m.root.Stat(strings.TrimLeft(name, "/")) })
}

func hidden(file string, stat func(string) (fs.FileInfo, error)) string {
	file = path.Join("/", file)
	if strings.HasPrefix(file, "/run/credentials/") { // those of the unit, which are the worker's
		return ""
	}
	for _, folder := range hiddenFolders {
		if strings.HasPrefix(file, folder+"/") {
			return folder + " is hidden from workers"
		}
	}
	needs := fs.FileMode(0o004) // to read the file, and to pass through its folders
	for name := file; name != "/"; name, needs = path.Dir(name), 0o001 {
		if info, err := stat(name); err == nil && info.Mode()&needs == 0 {
			return fmt.Sprintf("%s has the mode %04o", name, info.Mode().Perm())
		}
	}
	return ""
}
