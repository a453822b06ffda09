package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// tenantRow is the JSON of tenant list for each tenant.
type tenantRow struct {
	tenants.Tenant
	Enabled bool `json:"enabled"` // starts with the machine
	// of systemctl: active, inactive, failed, …; empty: there is no service manager
	Active string `json:"active,omitempty"`
}

func (p *program) newTenantListCommand() *cobra.Command {
	var root string
	var out format
	cmd := &cobra.Command{
		Use: "list", Short: "List the tenants of this machine",
		Long: `list shows the tenants that have an environment file in /etc/async-worker: whether their workers start
with the machine, whether they run now, and the names, not the values, of their settings and secrets. Without
the right to read the secrets it shows none. A tenant whose settings can't be read is listed as unreadable, and
list then fails.`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			return onMachine(root, func(m *tenants.Machine) error {
				rows, err := p.tenantRows(cmd.Context(), m, root)
				if err != nil {
					return err
				}
				return errors.Join(p.printTenants(out, rows), unreadable(rows, root))
			})
		}),
	}
	addRoot(cmd, &root)
	addOutput(cmd, &out)
	return cmd
}

// unreadable is the error of the tenants whose files could not be read; nil: all were.
func unreadable(rows []tenantRow, root string) error {
	var all []error
	for _, r := range rows {
		err, next := r.Err, "correct "+r.EnvFile
		if e, ok := errors.AsType[*fs.PathError](err); ok {
			path := e.Path
			if !strings.HasPrefix(path, strings.TrimRight(root, "/")+"/") { // that of a call that names it below the root
				path = filepath.Join(root, path)
			}
			_, next = pathProblem(err)
			err = fileError("read", path, err)
		}
		switch {
		case errors.Is(err, fs.ErrPermission):
			all = append(all, &failure{"tenant " + r.Name, nextOperator, &deniedError{err}})
		case err != nil:
			all = append(all, &failure{"tenant " + r.Name, next, err})
		}
	}
	return errors.Join(all...)
}

func (p *program) tenantRows(ctx context.Context, m *tenants.Machine, root string) ([]tenantRow, error) {
	all, err := m.List()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	states, err := p.managerOf(root).states(ctx, names...)
	if err != nil {
		return nil, err
	}
	rows := []tenantRow{}
	for _, t := range all {
		enabled, err := m.Enabled(t.Name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, tenantRow{t, enabled, states[t.Name]})
	}
	return rows, nil
}

func (p *program) printTenants(out format, rows []tenantRow) error {
	if out == asJSON {
		return printJSON(p.stdout, rows)
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(p.stdout, "There is no tenant yet; sudo async-worker tenant add NAME adds one.")
		return err
	}
	const longSecrets = 60
	items := make([]item, 0, len(rows))
	for _, r := range rows {
		enabled := "no"
		if r.Enabled {
			enabled = "yes"
		}
		active := r.Active
		if active == "" {
			active = "-"
		}
		settings := fmt.Sprint(len(r.Settings))
		if r.Err != nil {
			settings = "unreadable"
		}
		secrets, note := strings.Join(r.Secrets, " "), ""
		if len(secrets) > longSecrets {
			secrets, note = "", secrets
		}
		items = append(items, item{[]string{r.Name, enabled, active, settings, secrets}, note})
	}
	return listing(p.stdout, []string{"TENANT", "ENABLED", "ACTIVE", "SETTINGS", "SECRETS"}, items)
}
