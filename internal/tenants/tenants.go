// Package tenants manages the files of a machine's tenants: the environment file /etc/async-worker/NAME.env and the
// secrets, one file each in /etc/async-worker/credentials/NAME. The service manager reads both as root; operators may
// read them, workers may not. All settings are checked before anything is written, each file is replaced as a whole,
// and no secret is printed.
package tenants

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

const (
	settingsFolder    = "etc/async-worker"
	credentialsFolder = "etc/async-worker/credentials"
	sharedFile        = "etc/default/async-worker"

	folderMode      = 0o750
	credentialsMode = 0o700 // of a folder that the package did not create
	settingsMode    = 0o640 // readable by the folder's group, which has no worker in it
	credentialMode  = 0o600 // also readable by the group if the folder is
)

// The groups that the package creates.
const (
	Readers   = "async-worker"           // may read settings, not credentials
	Operators = "async-worker-operators" // may read credentials and send requests to workers
	Front     = "async-worker-front"     // the proxy's own: may forward requests, which need tokens, and read nothing
)

// Machine is the file system that holds the tenants' files.
type Machine struct {
	root   *os.Root
	prefix string // of paths in messages: the root folder of another system, or empty
}

// Open opens the machine whose root is folder: "/", or the tree of an image. No symlink leads out of it.
func Open(folder string) (*Machine, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fmt.Errorf("open the root: %w", err)
	}
	return &Machine{root: root, prefix: strings.TrimRight(folder, "/")}, nil
}

// Close closes the folder.
func (m *Machine) Close() error { return m.root.Close() }

// Tenant is a tenant of the machine.
type Tenant struct {
	Name     string   `json:"tenant"`
	EnvFile  string   `json:"env_file"`
	Settings []string `json:"settings"` // the names in the environment file, sorted
	Secrets  []string `json:"secrets"`  // the names of the credentials, sorted

	Err     error  `json:"-"`                 // why its files could not be read; nil: they were
	Problem string `json:"problem,omitempty"` // Err as a text
}

// List returns the tenants: those with an environment file. It skips names that are not valid for a worker. A tenant
// whose files can't be read has an Err.
func (m *Machine) List() ([]Tenant, error) {
	names, err := m.Names()
	if err != nil {
		return nil, err
	}
	var out []Tenant
	for _, name := range names {
		t, err := m.get(name)
		if err != nil {
			t = Tenant{
				Name: name, EnvFile: m.shown(envPath(name)), Settings: []string{}, Secrets: []string{}, Err: err,
				Problem: err.Error(),
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// Names returns the names of List without reading the files.
func (m *Machine) Names() ([]string, error) {
	entries, err := fs.ReadDir(m.root.FS(), settingsFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err // its path is below the root
	}
	if err != nil {
		return nil, fmt.Errorf("list the tenants in %s: %w", m.shown(settingsFolder), err)
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".env"); ok && !e.IsDir() && checkName(name) == nil {
			out = append(out, name)
		}
	}
	return out, nil
}

// AllEnabled returns the tenants whose workers start with the machine, by the links of `systemctl enable`, which everybody
// may list.
func (m *Machine) AllEnabled() (names []string, err error) {
	links, err := fs.Glob(m.root.FS(), wantsPath("*"))
	prefix, suffix, _ := strings.Cut(wantsPath("*"), "*")
	for _, link := range links {
		name := strings.TrimSuffix(strings.TrimPrefix(link, prefix), suffix)
		if checkName(name) == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// Exists reports whether a tenant of that name exists.
func (m *Machine) Exists(name string) (bool, error) {
	if err := checkName(name); err != nil {
		return false, err
	}
	_, err := m.root.Lstat(envPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (m *Machine) get(name string) (Tenant, error) {
	file, err := m.readEnv(envPath(name))
	if err != nil {
		return Tenant{}, err
	}
	secrets, err := m.readSecretNames(name)
	if err != nil {
		return Tenant{}, err
	}
	return Tenant{Name: name, EnvFile: m.shown(envPath(name)), Settings: file.names(), Secrets: secrets}, nil
}

// readSecretNames lists a tenant's credentials; none if this user may not read the folder.
func (m *Machine) readSecretNames(name string) ([]string, error) {
	entries, err := fs.ReadDir(m.root.FS(), secretsPath(name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return []string{}, nil
	} else if err != nil {
		return nil, fmt.Errorf("list the credentials of %s: %w", name, err)
	}
	names := []string{}
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// readEnv reads an environment file; one that is missing is empty.
func (m *Machine) readEnv(file string) (*envFile, error) {
	raw, err := m.root.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return &envFile{}, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the settings: %w", err)
	}
	parsed, err := parseEnv(string(raw))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.shown(file), err)
	}
	return parsed, nil
}

// origins names the file of each setting: a tenant's own overrides the shared one.
func (m *Machine) origins(tenant string, shared, own *envFile) map[string]string {
	out := map[string]string{}
	for _, name := range shared.names() {
		out[name] = m.shown(sharedFile)
	}
	for _, name := range own.names() {
		out[name] = m.shown(envPath(tenant))
	}
	return out
}

// checkName applies the rule of CLIENT_ID, so that a name is safe in a path and in a unit's name.
func checkName(name string) error {
	if name == "" { // config treats it as unset
		return &config.Errors{
			Problems: []config.Problem{
				{Name: "CLIENT_ID", Problem: "the tenant's name is empty", Remedy: "give it one, such as southhaven"},
			},
		}
	}
	_, err := config.Load(config.Sources{Environ: []string{"CLIENT_ID=" + name}}, config.Tenant)
	return err
}

func envPath(name string) string     { return path.Join(settingsFolder, name+".env") }
func secretsPath(name string) string { return path.Join(credentialsFolder, name) }

// shown returns a path for messages.
func (m *Machine) shown(file string) string { return m.prefix + "/" + file }
