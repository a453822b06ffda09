package tenants

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

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
	if folder := config.HiddenFolder(file); folder != "" {
		return folder + " is hidden from workers"
	}
	needs := fs.FileMode(0o004) // to read the file, and to pass through its folders
	for name := file; name != "/"; name, needs = path.Dir(name), 0o001 {
		if info, err := stat(name); err == nil && info.Mode()&needs == 0 {
			return fmt.Sprintf("%s has the mode %04o", name, info.Mode().Perm())
		}
	}
	return ""
}

var showsFolders = regexp.MustCompile(`(?m)^\s*(BindPaths|BindReadOnlyPaths|PrivateTmp|ProtectHome)\s*=`)

// Shows reports whether a drop-in, or a unit in place of the package's, changes which folders the unit of a tenant hides.
// root is the machine's root folder.
func Shows(root, client string) bool { return shows(os.DirFS(cmp.Or(root, "/")), client) }

func (m *Machine) shows(client string) bool { return shows(m.root.FS(), client) }

func shows(machine fs.FS, client string) bool {
	for _, folder := range []string{"etc/systemd/system/", "run/systemd/system/", "usr/local/lib/systemd/system/", "usr/lib/systemd/system/"} {
		for _, unit := range []string{"async-worker@", "async-worker@" + client} {
			files, _ := fs.Glob(machine, folder+unit+".service.d/*.conf") // the pattern is right
			if !strings.HasPrefix(folder, "usr/lib/") {                   // where the package's own is
				files = append(files, folder+unit+".service")
			}
			if slices.ContainsFunc(files, func(file string) bool {
				text, err := fs.ReadFile(machine, file)
				return err == nil && showsFolders.Match(text)
			}) {
				return true
			}
		}
	}
	return false
}
