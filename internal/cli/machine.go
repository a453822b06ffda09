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

// nextNoTenant is for a command that needs a tenant, on a machine that has none.
const nextNoTenant = "this machine has no tenant: sudo async-worker tenant add NAME adds one"

// addTenant adds the flag --tenant. A migration belongs to the database, not to a tenant.
func addTenant(cmd *cobra.Command) {
	if cmd.Name() == "migrate" {
		return
	}
	help := "use the settings of this tenant of the machine (as root or an operator)"
	if !hasUnit(cmd) {
		help += "; default: the only tenant"
	}
	cmd.Flags().String("tenant", "", help)
	_ = cmd.RegisterFlagCompletionFunc("tenant", completeTenants) // the flag exists
	if cmd.Flags().Lookup("root") == nil {
		addRoot(cmd, new(string))
		_ = cmd.Flags().MarkHidden("root")
	}
}

// resolveTenant uses the settings that systemd gives a tenant's unit: of the tenant that --tenant names, or, if the
// command needs one and the environment names no service, of the one that --client-id or CLIENT_ID names, or of the
// machine's only tenant. The daemon gets its settings from its unit.
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
	if f := cmd.Flags().Lookup("client-id"); f != nil && f.Changed && strings.TrimSpace(f.Value.String()) == "" {
		return nil // loading refuses it: it may stand for a variable that is not set, and no tenant is meant
	}
	client, named := p.client(cmd)
	if p.namesServices() || !p.needsTenant(cmd, groups) || named && (namesService(cmd) || needsOnlyClient(cmd)) {
		return nil
	}
	names, err := tenantNames(root)
	optional := cmd.Name() == "listen" // without a secret it checks no signature
	switch {
	case optional && errors.Is(err, fs.ErrPermission), optional && named && !slices.Contains(names, client):
		return nil
	case err != nil:
		return err
	case named && slices.Contains(names, client):
		return p.useTenantFiles(cmd, root, client)
	case named && len(names) > 0:
		return &failure{
			"read the settings of tenant " + client, "choose one with --tenant: " + strings.Join(names, ", ") +
				"; or set its database and queue in the environment; sudo async-worker tenant add NAME adds a tenant",
			&unknownTenantError{client, filepath.Join(root, tenantsDir)},
		}
	case named:
		return nil
	case len(names) == 1 && cmd.Name() == "sign":
		return setClient(cmd, names[0]) // the key to sign with is kept elsewhere
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

// hasUnit reports whether a command has the settings of its unit, or those of whoever starts it.
func hasUnit(cmd *cobra.Command) bool { return cmd.Name() == "run" || cmd.Name() == "reload" }

// withUnit adds what to do to an error of run, if it is that it lacks the settings that the machine has for the tenant's unit.
func (p *program) withUnit(cmd *cobra.Command, err error) error {
	root, noRoot := cmd.Flags().GetString("root")
	if problems, ok := errors.AsType[*config.Errors](err); !ok || !lacksServices(problems) || noRoot != nil ||
		cmd.Flags().Changed("tenant") || p.namesServices() {
		return err
	}
	names, denied := tenantNames(root)
	if client, named := p.client(cmd); named {
		names = slices.DeleteFunc(names, func(name string) bool { return name != client })
	}
	if denied != nil || len(names) != 1 {
		return err
	}
	return &failure{"start", "sudo systemctl start async-worker@" + names[0] + " runs it with the tenant's settings; or give " +
		"--tenant " + names[0], err}
}

// needsTenant reports whether a command needs the settings of a tenant.
func (p *program) needsTenant(cmd *cobra.Command, groups config.Group) bool {
	if hasUnit(cmd) {
		return false
	}
	switch cmd.Name() {
	case "sign":
		return true
	case "listen":
		return p.getenv("WEBHOOK_SECRET")+p.getenv("WEBHOOK_SECRET_FILE") == ""
	case "status":
		return !cmd.Flags().Changed("addr") && !cmd.Flags().Changed("socket")
	}
	return groups&(config.Store|config.Queue|config.Blob) != 0
}

// needsOnlyClient reports whether the name of a client is enough for a command: it needs no service.
func needsOnlyClient(cmd *cobra.Command) bool { return cmd.Name() == "sign" || cmd.Name() == "status" }

// client is the client that the command line or the environment names.
func (p *program) client(cmd *cobra.Command) (name string, named bool) {
	name = p.getenv("CLIENT_ID")
	if flag := cmd.Flags().Lookup("client-id"); flag != nil && flag.Changed {
		name = flag.Value.String()
	}
	return name, name != ""
}

// serviceSettings name a tenant's services.
func serviceSettings() []string {
	return []string{
		"DATABASE_URL", "SUPABASE_URL", "AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_ACCOUNT", "NATS_URL",
	}
}

// namesService reports whether the command line names a service.
func namesService(cmd *cobra.Command) bool {
	return slices.ContainsFunc(serviceSettings(), func(name string) bool {
		return cmd.Flags().Changed(strings.ReplaceAll(strings.ToLower(name), "_", "-"))
	})
}

// namesServices reports whether the environment names services, or has credentials.
func (p *program) namesServices() bool {
	for _, name := range serviceSettings() {
		if p.getenv(name) != "" || p.getenv(name+"_FILE") != "" {
			return true
		}
	}
	return p.getenv("CLIENT_ID_FILE") != "" || p.getenv("CREDENTIALS_DIRECTORY") != ""
}

// hasServices reports whether the environment names a tenant or its services.
func (p *program) hasServices() bool { return p.getenv("CLIENT_ID") != "" || p.namesServices() }

// tenantNames are the tenants of the machine with this root folder.
func tenantNames(root string) (names []string, err error) {
	var denied error // onMachine would say less of what to do
	err = onMachine(root, func(m *tenants.Machine) (err error) {
		if names, err = m.Names(); errors.Is(err, fs.ErrPermission) {
			denied, err = err, nil
		}
		return err
	})
	if denied == nil && errors.Is(err, fs.ErrPermission) {
		denied = err
	}
	if denied != nil {
		return nil, &failure{
			"look at the tenants of this machine", nextOperator + ", or set the settings in the environment",
			&deniedError{denied},
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
		return unreadError("read the settings of tenant "+name, err)
	}
	switch {
	case known && cmd.Name() == "sign":
		p.env = slices.DeleteFunc(slices.Clone(p.env), func(line string) bool {
			return strings.HasPrefix(line, "CLIENT_ID=") || strings.HasPrefix(line, "CLIENT_ID_FILE=")
		})
		return setClient(cmd, name) // as for the only tenant: the key to sign with is kept elsewhere
	case known:
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
