package tenants

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed-7227ef26/async-worker/internal/disk"
)

// write writes what has changed. The environment file comes last: with it the tenant exists. One that exists keeps its
// owner and mode.
func (m *Machine) write(p plan) error {
	if len(p.changed) == 0 && p.exists {
		return nil
	}
	mode, o := fs.FileMode(settingsMode), owner{}
	if p.exists && p.rewrites {
		info, err := m.regular(envPath(p.name)) // before anything is written
		if err != nil {
			return err
		}
		mode, o = info.Mode().Perm(), ownerOf(info)
	}
	if err := m.mkdirs(p.name); err != nil {
		return err
	}
	if err := m.writeSecrets(p); err != nil {
		return err
	}
	if p.exists && !p.rewrites {
		return nil
	}
	if !p.exists {
		info, err := m.root.Stat(settingsFolder)
		if err != nil {
			return err
		}
		o.group = ownerOf(info).group
	}
	return m.replace(envPath(p.name), p.file.String(), mode, o)
}

// writeSecrets writes the credentials that have changed. Those who may read the tenant's folder may read them.
func (m *Machine) writeSecrets(p plan) error {
	folder, err := m.root.Stat(secretsPath(p.name))
	if err != nil {
		return err
	}
	mode, o := fs.FileMode(credentialMode), owner{}
	if folder.Mode()&0o040 != 0 {
		mode, o.group = mode|0o040, ownerOf(folder).group
	}
	for _, name := range p.changed {
		value, ok := p.secrets[name]
		if !ok {
			continue
		}
		if err := m.replace(path.Join(secretsPath(p.name), name), value+"\n", mode, o); err != nil {
			return err
		}
	}
	return nil
}

// mkdirs creates the package's folders, if they are missing, and the tenant's own.
func (m *Machine) mkdirs(name string) error {
	if _, err := m.root.Stat(settingsFolder); errors.Is(err, fs.ErrNotExist) {
		if err := m.root.MkdirAll(path.Dir(settingsFolder), 0o755); err != nil {
			return fmt.Errorf("make the folder of the settings: %w", err)
		}
		if err := m.mkdir(settingsFolder, folderMode); err != nil {
			return err
		}
	}
	if _, err := m.root.Lstat(credentialsFolder); errors.Is(err, fs.ErrNotExist) {
		if err := m.mkdir(credentialsFolder, credentialsMode); err != nil {
			return err
		}
	}
	return m.mkSecrets(name)
}

// mkSecrets creates a tenant's folder of credentials with the group of its parent, which may read it. An existing
// folder of root's keeps its group and the group's right to read; group writes and access by others are removed.
func (m *Machine) mkSecrets(name string) error {
	folder := secretsPath(name)
	like, err := m.root.Stat(credentialsFolder)
	if err != nil {
		return err
	}
	if now, err := m.root.Stat(folder); err == nil && ownerOf(now).user == os.Geteuid() {
		return m.root.Chmod(folder, now.Mode()&(fs.ModeSetgid|0o750)|0o700)
	}
	// It is new, or the service manager has made it for its dynamic user: root becomes its owner.
	if err := m.mkdir(folder, 0o700); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		if err := m.root.Lchown(folder, 0, ownerOf(like).group); err != nil {
			return err
		}
	}
	return m.root.Chmod(folder, like.Mode()&(fs.ModeSetgid|0o750)|0o700)
}

func (m *Machine) mkdir(folder string, mode fs.FileMode) error {
	if err := m.root.Mkdir(folder, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make %s: %w", m.shown(folder), err)
	}
	return m.root.Chmod(folder, mode)
}

// Writable returns an fs.ErrPermission if this user may not change tenants.
func (m *Machine) Writable() error {
	path := m.shown(settingsFolder)
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	if err == nil || errors.Is(err, fs.ErrNotExist) { // Add creates it
		return nil
	}
	return &fs.PathError{Op: "write to", Path: path, Err: err}
}

// owner is the owner of a file to write; the zero value is root.
type owner struct{ user, group int }

// replace writes a file atomically: under another name first, then renamed. The file never has a wider mode than mode.
func (m *Machine) replace(file, content string, mode fs.FileMode, o owner) (err error) {
	temporary := path.Join(path.Dir(file), "."+path.Base(file)+"."+rand.Text()[:8])
	f, err := m.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, credentialMode)
	if err != nil {
		return fmt.Errorf("write %s: %w", m.shown(file), err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", m.shown(file), errors.Join(err, m.root.Remove(temporary)))
		}
	}()
	_, err = f.WriteString(content)
	if err == nil && os.Geteuid() == 0 {
		err = f.Chown(o.user, o.group)
	}
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = m.root.Rename(temporary, file); err != nil {
		return err
	}
	return disk.Sync(m.root, path.Dir(file))
}

// Remove deletes a tenant's credentials and environment file, and with state also what its worker kept, after disabling
// the unit. It returns the paths that existed; removing nothing is not an error.
func (m *Machine) Remove(name string, state bool) ([]string, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	paths := []string{wantsPath(name), secretsPath(name)}
	if state {
		for _, kind := range []string{"lib", "cache"} {
			paths = append(paths, "var/"+kind+"/private/async-worker/"+name, "var/"+kind+"/async-worker/"+name)
		}
	}
	return m.removeAll(append(paths, envPath(name)))
}

// State returns the folder of what a tenant's worker kept, which Remove deletes with state, and BLOB_DIR if it is in that
// folder. Settings that can't be read have none.
func (m *Machine) State(name string) (folder, blobs string) {
	folder = m.shown("var/lib/async-worker/" + name)
	for _, file := range []string{sharedFile, envPath(name)} { // as the unit reads them: the last one counts
		settings, err := m.readEnv(file)
		if err != nil {
			continue
		}
		if value, ok := settings.get("BLOB_DIR"); ok {
			blobs = path.Clean(value)
		}
	}
	for _, lib := range []string{"/var/lib/async-worker/", "/var/lib/private/async-worker/"} {
		if strings.HasPrefix(blobs+"/", lib+name+"/") {
			return folder, blobs
		}
	}
	return folder, ""
}

// Disable removes the link that starts the tenant's worker with the machine, and reports whether there was one.
func (m *Machine) Disable(name string) (bool, error) {
	if err := checkName(name); err != nil {
		return false, err
	}
	gone, err := m.removeAll([]string{wantsPath(name)})
	return len(gone) > 0, err
}

func (m *Machine) removeAll(paths []string) ([]string, error) {
	removed := []string{}
	for _, file := range paths {
		if _, err := m.root.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := m.root.RemoveAll(file); err != nil {
			return removed, fmt.Errorf("remove %s: %w", m.shown(file), err)
		}
		removed = append(removed, m.shown(file))
	}
	return slices.Clip(removed), nil
}
