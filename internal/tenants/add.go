package tenants

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// Change is a change of a tenant, new or not. Add keeps what it does not name.
type Change struct {
	Name     string
	Settings map[string]string        // by variable; a secret among them becomes a credential
	Secrets  map[string]config.Secret // by setting
	Force    bool                     // existing values are overwritten
}

// Added is the result of a Change.
type Added struct {
	Tenant
	Changed  []string         `json:"changed"` // the settings and secrets that were written; empty: none changed
	Warnings []config.Problem `json:"warnings"`
}

// ExistsError reports a tenant that exists with other values.
type ExistsError struct {
	Name    string
	Differs []string // the settings that would have been written
}

func (e *ExistsError) Error() string {
	return fmt.Sprintf("the tenant %s exists, and these settings would change: %s", e.Name,
		strings.Join(e.Differs, ", "))
}

const header = `# Settings of the tenant %s, for async-worker@%[1]s. async-worker.env(5) lists them all; its secrets are in
# /etc/async-worker/credentials/%[1]s. After a change: systemctl reload async-worker@%[1]s
`

// Add writes a tenant's environment file and credentials. First it checks all settings, together with the shared ones,
// as the worker will: the error is a *config.Errors then. Repeating it changes nothing.
func (m *Machine) Add(c Change) (Added, error) {
	p, err := m.plan(c)
	if err != nil {
		return Added{}, err
	}
	if p.exists && !c.Force && len(p.changed) > 0 {
		return Added{}, &ExistsError{c.Name, p.changed}
	}
	warnings, err := m.check(p)
	if err != nil {
		return Added{}, err
	}
	if err := m.write(p); err != nil {
		return Added{}, err
	}
	t, err := m.get(c.Name)
	return Added{t, p.changed, warnings}, err
}

// plan is the state that a tenant shall have.
type plan struct {
	name     string
	exists   bool
	file     *envFile
	rewrites bool              // file differs from what is on the disk
	secrets  map[string]string // all of them; only those in changed are written
	changed  []string          // names, sorted
}

func (m *Machine) plan(c Change) (plan, error) {
	exists, err := m.Exists(c.Name)
	if err != nil {
		return plan{}, err
	}
	p := plan{name: c.Name, exists: exists}
	if p.file, err = m.readEnv(envPath(c.Name)); err != nil {
		return plan{}, err
	}
	if p.secrets, err = m.readSecrets(c.Name); err != nil {
		return plan{}, err
	}
	if !exists {
		p.file, _ = parseEnv(fmt.Sprintf(header, c.Name))
	}
	secret := map[string]bool{}
	for _, s := range config.Settings() {
		secret[s.Name] = s.Secret
	}
	for name := range c.Secrets {
		if !secret[name] {
			return plan{}, fmt.Errorf("%s is not a secret setting; async-worker.env(5) lists the secret ones", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		switch value := c.Settings[name]; {
		case name == "CLIENT_ID" && value == c.Name: // given by the instance's name
		case secret[name] && strings.TrimSpace(value) == "": // unset, as in the example file
		case secret[name]:
			p.setSecret(name, value)
		default:
			p.set(name, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Secrets)) {
		p.setSecret(name, c.Secrets[name].Reveal())
	}
	slices.Sort(p.changed)
	p.changed = slices.Compact(p.changed)
	if p.changed == nil {
		p.changed = []string{}
	}
	return p, nil
}

func (p *plan) set(name, value string) {
	if old, ok := p.file.get(name); !ok || old != value {
		p.file.set(name, value)
		p.rewrites = true
		p.changed = append(p.changed, name)
	}
}

// setSecret moves a secret from the environment file to a file that only root can read.
func (p *plan) setSecret(name, value string) {
	value = strings.TrimSpace(value)
	_, open := p.file.get(name)
	if old, ok := p.secrets[name]; !ok || old != value || open {
		p.secrets[name] = value
		p.file.remove(name)
		p.rewrites = p.rewrites || open
		p.changed = append(p.changed, name)
	}
}

func (m *Machine) readSecrets(name string) (map[string]string, error) {
	names, err := m.readSecretNames(name)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, n := range names {
		raw, err := m.root.ReadFile(path.Join(secretsPath(name), n))
		if err != nil {
			return nil, fmt.Errorf("read a credential of %s: %w", name, err)
		}
		out[n] = strings.TrimSpace(string(raw))
	}
	return out, nil
}

// check reads the settings as the worker will.
func (m *Machine) check(p plan) ([]config.Problem, error) {
	for _, l := range p.file.lines {
		if strings.ContainsAny(l.value, "\r\n\x00") {
			return nil, &config.Errors{
				Problems: []config.Problem{
					{Name: l.name, Problem: "its value has more than one line", Remedy: "write it on one line"},
				},
			}
		}
	}
	src, err := m.sources(p.name, p.file, p.secrets)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Load(src, config.All)
	if err != nil {
		return cfg.Warnings(), err
	}
	shares, err := m.shared(p)
	return append(cfg.Warnings(), shares...), err
}

// sources are a worker's: the instance's name as a flag, credentials from their folder, the tenant's file overriding
// the shared one.
func (m *Machine) sources(name string, file *envFile, secrets map[string]string) (config.Sources, error) {
	shared, err := m.readEnv(sharedFile)
	if err != nil {
		return config.Sources{}, err
	}
	const credentials = "/credentials" // a folder that exists in this process only
	return config.Sources{
		Flags:   map[string]string{"CLIENT_ID": name},
		Environ: append(append(shared.environ(), file.environ()...), "CREDENTIALS_DIRECTORY="+credentials),
		Files:   m.origins(name, shared, file),
		Hidden:  m.hidden,
		Shows:   m.shows,
		List:    func(string) []string { return slices.Collect(maps.Keys(secrets)) },
		ReadFile: func(file string) ([]byte, error) {
			dir, base := path.Split(file)
			if dir != credentials+"/" {
				return m.readNamed(file)
			}
			if value, ok := secrets[base]; ok {
				return []byte(value), nil
			}
			return nil, fs.ErrNotExist
		},
	}, nil
}

// readNamed reads the file that a setting such as NATS_CA_FILE names. On this machine it follows links, as the worker
// does: those of Debian's certificates are absolute, which os.Root refuses. In the tree of an image they would lead to
// this machine's own files.
func (m *Machine) readNamed(file string) ([]byte, error) {
	file = strings.TrimLeft(file, "/")
	if m.prefix == "" {
		return os.ReadFile("/" + file) // a unit's working folder is /
	}
	return m.root.ReadFile(file)
}

// Enabled reports whether the tenant's worker starts with the machine.
func (m *Machine) Enabled(name string) (bool, error) {
	if err := checkName(name); err != nil {
		return false, err
	}
	_, err := m.root.Lstat(wantsPath(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func wantsPath(name string) string {
	return "etc/systemd/system/async-worker.target.wants/async-worker@" + name + ".service"
}
