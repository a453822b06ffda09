package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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
the right to read the secrets it shows none.`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			return onMachine(root, func(m *tenants.Machine) error {
				rows, err := p.tenantRows(cmd.Context(), m, root)
				if err != nil {
					return err
				}
				return errors.Join(p.printTenants(out, rows), unreadable(rows))
			})
		}),
	}
	addRoot(cmd, &root)
	addOutput(cmd, &out)
	return cmd
}

// unreadable is the error of the first tenant whose files could not be read; nil: all were.
func unreadable(rows []tenantRow) error {
	for _, r := range rows {
		if errors.Is(r.Err, fs.ErrPermission) {
			return &failure{"tenant " + r.Name, nextOperator, r.Err}
		}
		if r.Err != nil {
			return &failure{"tenant " + r.Name, "correct " + r.EnvFile, r.Err}
		}
	}
	return nil
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
		_, err := fmt.Fprintln(p.stdout, "There is no tenant yet; async-worker tenant add adds one.")
		return err
	}
	var cells [][]string
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
		cells = append(cells, []string{r.Name, enabled, active, settings, strings.Join(r.Secrets, " ")})
	}
	return table(p.stdout, []string{"TENANT", "ENABLED", "ACTIVE", "SETTINGS", "SECRETS"}, cells)
}
