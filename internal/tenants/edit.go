package tenants

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/disk"
)

// An Edit is a tenant's environment file while somebody edits a copy of it.
type Edit struct {
	Name string
	Path string // for messages
	Text string // the text when the edit began

	mode  fs.FileMode
	owner owner
}

// ErrChanged reports that the file has changed since the edit began.
var ErrChanged = errors.New("the settings have been changed by somebody else; edit them again")

// Edit begins to edit a tenant's environment file; it locks nothing. If there is none the error is an fs.ErrNotExist.
func (m *Machine) Edit(name string) (Edit, error) {
	if err := checkName(name); err != nil {
		return Edit{}, err
	}
	file := envPath(name)
	e := Edit{Name: name, Path: m.shown(file)}
	info, err := m.regular(file)
	if err != nil {
		return e, err
	}
	e.mode = info.Mode().Perm()
	e.owner = ownerOf(info)
	raw, err := m.root.ReadFile(file)
	if err != nil {
		return e, fmt.Errorf("read the settings: %w", err)
	}
	e.Text = string(raw)
	return e, nil
}

// regular looks at an environment file that is to be replaced, and refuses one that is a link: a file would take its
// place, and the link's target would stay as it is.
func (m *Machine) regular(file string) (fs.FileInfo, error) {
	info, err := m.root.Lstat(file)
	if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: edit its target, then run check-config", m.shown(file))
	}
	return info, nil
}

func ownerOf(info fs.FileInfo) owner {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return owner{int(s.Uid), int(s.Gid)}
	}
	return owner{}
}

// CheckEdit checks a text as the worker would read it, with the tenant's credentials and the shared settings. The
// error for wrong settings is a *config.Errors.
func (m *Machine) CheckEdit(e Edit, text string) ([]config.Problem, error) {
	file, err := parseEnv(text)
	if err != nil {
		return nil, &config.Errors{
			Problems: []config.Problem{
				{
					Name: e.Path, Problem: err.Error(),
					Remedy: "fix the line; systemd.exec(5) has the syntax of an environment file",
				},
			},
		}
	}
	secrets, err := m.readSecrets(e.Name)
	if err != nil {
		return nil, err
	}
	return m.check(plan{name: e.Name, exists: true, file: file, secrets: secrets})
}

// Apply replaces the whole file with a text, and keeps its owner and mode. It returns ErrChanged after another change.
func (m *Machine) Apply(e Edit, text string) error {
	now, err := m.root.ReadFile(envPath(e.Name))
	if err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	if string(now) != e.Text {
		return fmt.Errorf("%s: %w", e.Path, ErrChanged)
	}
	return m.replace(envPath(e.Name), text, e.mode, e.owner)
}

// ChangedBy returns the names of the settings that differ in a text, sorted. A text that can't be read has none.
func (e Edit) ChangedBy(text string) (names []string) {
	before, _ := ParseEnv(e.Text)
	after, _ := ParseEnv(text)
	for name, value := range after {
		if old, ok := before[name]; !ok || old != value {
			names = append(names, name)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Secret returns a credential of a tenant; unset: there is none.
func (m *Machine) Secret(name, setting string) (config.Secret, error) {
	if err := checkName(name); err != nil {
		return config.Secret{}, err
	}
	raw, err := m.root.ReadFile(path.Join(secretsPath(name), setting))
	if errors.Is(err, fs.ErrNotExist) {
		return config.Secret{}, nil
	} else if err != nil {
		return config.Secret{}, fmt.Errorf("read a credential of %s: %w", name, err)
	}
	return config.NewSecret(strings.TrimSpace(string(raw))), nil
}

// Value returns the text of a setting as the tenant's worker finds it: the credential, or what the environment files say.
func (m *Machine) Value(name, setting string) (config.Secret, error) {
	kept, err := m.Secret(name, setting)
	if err != nil || kept.IsSet() {
		return kept, err
	}
	file, err := m.readEnv(envPath(name))
	if err != nil {
		return config.Secret{}, err
	}
	src, err := m.sources(name, file, nil)
	if err != nil {
		return config.Secret{}, err
	}
	value, _, err := src.Find(setting)
	return value, err
}

// StillSetError reports that a secret can't be removed, because something else would set it then.
type StillSetError struct{ Setting, By string }

func (e *StillSetError) Error() string { return e.Setting + " is also set by " + e.By }

// RemoveSecret removes a credential of a tenant, and the setting from the tenant's environment file. The error is a
// *StillSetError, and nothing is removed, if another file would still set it.
func (m *Machine) RemoveSecret(name, setting string) error {
	if err := checkName(name); err != nil {
		return err
	}
	file, err := m.readEnv(envPath(name))
	if err != nil {
		return err
	}
	_, open := file.get(setting)
	file.remove(setting)
	src, err := m.sources(name, file, nil)
	if err != nil {
		return err
	}
	if _, origin, err := src.Find(setting); err != nil {
		return err
	} else if origin != "" {
		return &StillSetError{setting, origin}
	}
	if open {
		info, err := m.regular(envPath(name))
		if err != nil {
			return err
		}
		if err := m.replace(envPath(name), file.String(), info.Mode().Perm(), ownerOf(info)); err != nil {
			return err
		}
	}
	err = m.root.Remove(path.Join(secretsPath(name), setting))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("remove a credential of %s: %w", name, err)
	}
	return disk.Sync(m.root, secretsPath(name))
}
