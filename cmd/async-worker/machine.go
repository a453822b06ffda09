package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// tenantsDir is where packaging and `tenant add` put tenants' files, below the root.
const tenantsDir = "etc/async-worker"

// addTenant gives cmd the flag --tenant: whose settings it takes.
func addTenant(cmd *cobra.Command) {
	cmd.Flags().String("tenant", "", "the tenant of this machine whose settings are used (as root); default: the only one")
	_ = cmd.RegisterFlagCompletionFunc("tenant", completeTenants) // it was added just now
	if cmd.Flags().Lookup("root") == nil {
		addRoot(cmd, new(string))
		_ = cmd.Flags().MarkHidden("root")
	}
}

// asTenant takes over the settings that systemd gives a tenant's unit: of the tenant that --tenant names, or of the only
// one of this machine where nothing else says what to use. The daemon itself is told everything by its unit.
func (p *program) asTenant(cmd *cobra.Command) error {
	flag := cmd.Flags().Lookup("tenant")
	if flag == nil || p.taken {
		return nil
	}
	p.taken = true
	root, err := cmd.Flags().GetString("root")
	if err != nil {
		return err
	}
	configured := cmd.Flags().Changed("client-id") || len(config.Environ(p.env)) > 0 || p.getenv("CREDENTIALS_DIRECTORY") != ""
	name := flag.Value.String()
	switch {
	case flag.Changed && (name == "" || strings.ContainsAny(name, "/.")):
		return badUsage("it is the name after the @ of its unit, as in async-worker@southhaven", "--tenant: %q is no tenant's name", name)
	case flag.Changed:
	case configured || cmd.Name() == "run" || cmd.Name() == "reload":
		return nil
	default:
		if name, err = onlyTenant(root); name == "" {
			return err
		}
	}
	return p.takeSettings(cmd, root, name, configured)
}

// onlyTenant is the tenant of a machine that has one; empty: it has none.
func onlyTenant(root string) (string, error) {
	dir := filepath.Join(root, tenantsDir)
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", &failure{"look for the tenants of this machine", "run it as root (sudo), or set the settings in the environment", err}
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".env"); ok && !e.IsDir() {
			names = append(names, name)
		}
	}
	switch len(names) {
	case 0:
		return "", nil
	case 1:
		return names[0], nil
	}
	return "", badUsage("say which with --tenant: "+strings.Join(names, ", "), "this machine has %d tenants", len(names))
}

// unknownTenantError is a name that this machine has no files of.
type unknownTenantError struct{ name, dir string }

func (e *unknownTenantError) Error() string {
	return fmt.Sprintf("there is no tenant %s in %s", e.name, e.dir)
}

// takeSettings makes the environment that of the tenant's unit, in the unit's order. configured: it has settings already,
// as in a container, where a name without files is only that.
func (p *program) takeSettings(cmd *cobra.Command, root, name string, configured bool) error {
	etc := filepath.Join(root, tenantsDir)
	own, credentials := filepath.Join(etc, name+".env"), filepath.Join(etc, "credentials", name)
	known, err := anyThere(own, credentials)
	switch {
	case err != nil:
		return &failure{"read the settings of tenant " + name, "run it as root (sudo)", err}
	case !known && configured:
		return setClient(cmd, name)
	case !known:
		return &failure{
			"read the settings of tenant " + name,
			"sudo async-worker tenant list shows those that there are; sudo async-worker tenant add " + name + " adds it", &unknownTenantError{name, etc},
		}
	}
	p.env = slices.Clone(p.env)
	for _, path := range []string{filepath.Join(root, "etc/default/async-worker"), own} {
		if err := p.addFile(path); err != nil {
			return err
		}
	}
	if known, err := anyThere(credentials); err != nil {
		return &failure{"read the credentials of tenant " + name, "run it as root (sudo)", err}
	} else if known {
		if _, err := os.ReadDir(credentials); err != nil {
			return &failure{"read the credentials of tenant " + name, "run it as root (sudo)", err}
		}
		p.env = append(p.env, "CREDENTIALS_DIRECTORY="+credentials)
	}
	return setClient(cmd, name)
}

// addFile adds what an environment file sets. It wins over what this shell happens to have.
func (p *program) addFile(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &failure{"read the tenant's settings", "run it as root (sudo)", err}
	}
	values, err := tenants.ParseEnv(string(text))
	if err != nil {
		return &failure{"read " + path, "mend the line", err}
	}
	for name, value := range values {
		p.env = append(p.env, name+"="+value)
	}
	return nil
}

// setClient says whose tenant it is, unless --client-id says it: where they disagree, loading says so.
func setClient(cmd *cobra.Command, name string) error {
	if cmd.Flags().Changed("client-id") || cmd.Flags().Lookup("client-id") == nil {
		return nil
	}
	return cmd.Flags().Set("client-id", name)
}

func anyThere(paths ...string) (bool, error) {
	for _, path := range paths {
		_, err := os.Stat(path)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return false, nil
}
