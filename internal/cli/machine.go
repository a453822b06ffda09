package cli

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
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// tenantsDir has the tenants' files, below the root.
const tenantsDir = "etc/async-worker"

const (
	// nextRoot is for actions of root only.
	nextRoot = "run it as root (sudo)"
	// nextOperator is for files that operators may read: one group has the settings, the other the credentials.
	nextOperator = nextRoot + ", or as a member of the groups " + tenants.Readers + " and " + tenants.Operators
)

// addTenant adds the flag --tenant. A migration belongs to the database, not to a tenant.
func addTenant(cmd *cobra.Command) {
	if cmd.Name() == "migrate" {
		return
	}
	cmd.Flags().String("tenant", "", "use the settings of this tenant of the machine (as root or an operator); "+
		"default: the only tenant")
	_ = cmd.RegisterFlagCompletionFunc("tenant", completeTenants) // the flag exists
	if cmd.Flags().Lookup("root") == nil {
		addRoot(cmd, new(string))
		_ = cmd.Flags().MarkHidden("root")
	}
}

// resolveTenant uses the settings that systemd gives a tenant's unit: of the tenant that --tenant names, or, if the
// command needs one and the environment has no settings, of the machine's only tenant. The daemon gets its settings
// from its unit.
func (p *program) resolveTenant(cmd *cobra.Command, groups config.Group) error {
	flag := cmd.Flags().Lookup("tenant")
	if flag == nil || p.tenantResolved {
		return nil
	}
	p.tenantResolved = true
	root, err := cmd.Flags().GetString("root")
	if err != nil {
		return err
	}
	name := flag.Value.String()
	if flag.Changed {
		return p.useNamedTenant(cmd, root, name)
	}
	if cmd.Flags().Changed("client-id") || p.hasServices() || !needsTenant(cmd, groups) {
		return nil
	}
	names, err := tenantNames(root)
	switch {
	case err != nil:
		return err
	case len(names) == 1:
		return p.useTenantFiles(cmd, root, names[0])
	case len(names) > 1:
		return severalTenants(names)
	}
	return nil
}

func severalTenants(names []string) error {
	return badUsage("choose one with --tenant: "+strings.Join(names, ", "), "this machine has %d tenants", len(names))
}

// needsTenant reports whether a command needs the settings of a tenant.
func needsTenant(cmd *cobra.Command, groups config.Group) bool {
	switch cmd.Name() {
	case "run", "reload":
		return false
	case "token":
		return true
	case "status":
		return !cmd.Flags().Changed("addr") && !cmd.Flags().Changed("socket")
	}
	return groups&(config.Store|config.Queue|config.Blob) != 0
}

// hasServices reports whether the environment names a tenant or its services.
func (p *program) hasServices() bool {
	for _, name := range []string{
		"CLIENT_ID", "DATABASE_URL", "SUPABASE_URL", "AZURE_STORAGE_CONNECTION_STRING",
		"AZURE_STORAGE_ACCOUNT", "NATS_URL",
	} {
		if p.getenv(name) != "" || p.getenv(name+"_FILE") != "" {
			return true
		}
	}
	return p.getenv("CREDENTIALS_DIRECTORY") != ""
}

// tenantNames are the tenants of the machine with this root folder.
func tenantNames(root string) (names []string, err error) {
	err = onMachine(root, func(m *tenants.Machine) (err error) {
		names, err = m.Names()
		return err
	})
	if errors.Is(err, fs.ErrPermission) {
		return nil, &failure{
			"look at the tenants of this machine", nextOperator + ", or set the settings in the environment",
			&deniedError{err},
		}
	}
	return names, err
}

// unknownTenantError: the machine has no files for this name.
type unknownTenantError struct{ name, dir string }

func (e *unknownTenantError) Error() string {
	return fmt.Sprintf("there is no tenant %s in %s", e.name, e.dir)
}

// useNamedTenant uses the settings of the tenant that --tenant names. Without tenants' files, as in a container, the
// name is only CLIENT_ID.
func (p *program) useNamedTenant(cmd *cobra.Command, root, name string) error {
	if task.ValidClientID(name) != nil {
		return badUsage("use the name after the @ of its unit, as in async-worker@southhaven",
			"--tenant: %q is not a tenant's name", name)
	}
	if given := cmd.Flags().Lookup("client-id"); given != nil && given.Changed && given.Value.String() != name {
		return badUsage("leave --client-id out", "--tenant %s and --client-id %s are not the same", name,
			given.Value.String())
	}
	etc := filepath.Join(root, tenantsDir)
	known, err := anyExists(filepath.Join(etc, name+".env"), filepath.Join(etc, "credentials", name))
	if err != nil {
		return &failure{"read the settings of tenant " + name, nextOperator, &deniedError{err}}
	}
	if known {
		return p.useTenantFiles(cmd, root, name)
	}
	names, err := tenantNames(root)
	if err != nil {
		return err
	}
	if len(names) == 0 && p.hasServices() {
		if own := p.getenv("CLIENT_ID"); own != "" && own != name {
			return &failure{
				"use tenant " + name, "leave --tenant out, or unset CLIENT_ID; sudo async-worker tenant add " + name +
					" adds the tenant to this machine", &unknownTenantError{name, etc + ", and the environment's CLIENT_ID is " + own},
			}
		}
		return setClient(cmd, name)
	}
	return &failure{
		"read the settings of tenant " + name,
		"sudo async-worker tenant list shows the tenants; sudo async-worker tenant add " + name + " adds one",
		&unknownTenantError{name, etc},
	}
}

// useTenantFiles makes the environment that of the tenant's unit, in the unit's order. It drops all settings of the
// shell, which may belong to another database.
func (p *program) useTenantFiles(cmd *cobra.Command, root, name string) error {
	etc := filepath.Join(root, tenantsDir)
	credentials := filepath.Join(etc, "credentials", name)
	var dropped []string // of libraries
	p.env = slices.DeleteFunc(config.Overlay(p.env, nil), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		if isLibrarySetting(name) {
			dropped = append(dropped, name)
			return true
		}
		return name == "CREDENTIALS_DIRECTORY"
	})
	p.envFiles = map[string]string{}
	for _, path := range []string{filepath.Join(root, "etc/default/async-worker"), filepath.Join(etc, name+".env")} {
		if err := p.addEnvFile(path); err != nil {
			return err
		}
	}
	switch err := checkReadable(credentials); {
	case err == nil:
		p.env = append(p.env, "CREDENTIALS_DIRECTORY="+credentials)
	case !errors.Is(err, fs.ErrNotExist):
		return &failure{"read the credentials of tenant " + name, nextOperator, &deniedError{err}}
	}
	p.setLibraries(dropped)
	p.tenant = name
	return setClient(cmd, name)
}

// checkReadable returns why a folder, or a file in it, can't be read.
func checkReadable(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		f, openErr := os.Open(filepath.Join(folder, e.Name()))
		if openErr != nil {
			return openErr
		}
		_ = f.Close() // nothing was read
	}
	return err
}

// librarySettings are what libraries read from the environment of the process: the identity of Azure's SDK, and the
// proxies and certificate authorities of every request.
var librarySettings = []string{
	"AZURE_CLIENT_ID", "AZURE_TENANT_ID", "AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH",
	"AZURE_CLIENT_CERTIFICATE_PASSWORD",
	"AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST", "AZURE_TOKEN_CREDENTIALS",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// isLibrarySetting reports whether a library reads a variable. Those of Postgres (PGSSLMODE, PGOPTIONS, …) say what
// DATABASE_URL leaves out.
func isLibrarySetting(name string) bool {
	return strings.HasPrefix(name, "PG") || slices.Contains(librarySettings, name)
}

// setLibraries gives libraries the settings of the tenant's files instead of those dropped, as the tenant's worker has
// them. Go reads proxies and authorities once, with the first request, so it has to come before that.
func (p *program) setLibraries(dropped []string) {
	if p.setenv == nil {
		return
	}
	names := append(slices.Clone(librarySettings), dropped...)
	for name := range p.envFiles {
		if isLibrarySetting(name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		p.setenv(name, p.getenv(name))
	}
}

// addEnvFile adds the settings of an environment file.
func (p *program) addEnvFile(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &failure{"read the tenant's settings", nextOperator, &deniedError{err}}
	}
	values, err := tenants.ParseEnv(string(text))
	if err != nil {
		return &config.Errors{Problems: []config.Problem{{Name: path, Problem: err.Error(), Remedy: "fix the line"}}}
	}
	for name, value := range values {
		// it signs keys to every tenant: it does not belong in a tenant's files
		if strings.TrimSuffix(name, "_FILE") == config.SigningName {
			continue
		}
		p.env = append(p.env, name+"="+value)
		p.envFiles[name] = path
	}
	return nil
}

// setClient sets CLIENT_ID. Loading reports a tenant's file that contradicts it.
func setClient(cmd *cobra.Command, name string) error {
	if cmd.Flags().Lookup("client-id") == nil {
		return nil
	}
	return cmd.Flags().Set("client-id", name)
}

func anyExists(paths ...string) (bool, error) {
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
