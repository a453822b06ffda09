package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

func (p *program) newTenantCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "tenant", Short: "Add, edit, list and remove the tenants of this machine",
		Long: `tenant manages a tenant's files on a machine with systemd: its settings in /etc/async-worker/TENANT.env,
and its secrets, one file each, in /etc/async-worker/credentials/TENANT. Only root changes them; operators may
list them. The tenant's worker is the instance async-worker@TENANT.`,
		Args: needsSubcommand,
		RunE: showHelp,
	}
	cmd.AddCommand(p.newTenantAddCommand(), p.newTenantEditCommand(), p.newTenantListCommand(),
		p.newTenantRemoveCommand())
	return cmd
}

// checkTenantName refuses an argument that can't be the name of a tenant.
func checkTenantName(name string) error {
	if task.ValidClientID(name) == nil {
		return nil
	}
	return badUsage("use 1 to 28 of a-z, 0-9 and single dashes, beginning and ending with a letter or digit",
		"%q is not a valid name for a tenant", name)
}

// addRoot adds the flag --root.
func addRoot(cmd *cobra.Command, root *string) {
	cmd.Flags().StringVar(root, "root", "/", "the machine's root folder, for building an image")
	_ = cmd.MarkFlagDirname("root")
}

// onMachine opens the machine's files for do.
func onMachine(root string, do func(*tenants.Machine) error) (err error) {
	m, err := tenants.Open(root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	err = do(m)
	if _, said := errors.AsType[*failure](err); errors.Is(err, fs.ErrPermission) && !said && os.Geteuid() != 0 {
		return &failure{"look at the tenants of this machine", nextOperator, &deniedError{err}}
	}
	return err
}

// changeMachine is onMachine for changes. It checks the permission first, before anything is asked or done.
func changeMachine(root string, do func(*tenants.Machine) error) error {
	return onMachine(root, func(m *tenants.Machine) error {
		err := m.Writable()
		if err == nil {
			err = do(m)
		}
		if _, said := errors.AsType[*failure](err); errors.Is(err, fs.ErrPermission) && !said {
			return &failure{
				"change the tenants of this machine", nextRoot + ": only root changes a tenant", &deniedError{err},
			}
		}
		return err
	})
}

// completeTenants completes the names of the machine's tenants.
func completeTenants(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	root, _ := cmd.Flags().GetString("root")
	var names []string
	_ = onMachine(root, func(m *tenants.Machine) error { // without permission: no names
		all, err := m.List()
		for _, t := range all {
			names = append(names, t.Name)
		}
		return err
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

func unitOf(tenant string) string { return "async-worker@" + tenant + ".service" }

// serviceManager runs systemctl(1) and returns its output. Nil: there is no service manager, as in a container or an
// image's tree.
type serviceManager func(ctx context.Context, args ...string) (string, error)

// managerOf is the service manager of the machine with this root folder.
func (p *program) managerOf(root string) serviceManager {
	if root != "/" {
		return nil
	}
	return p.systemctl
}

// findSystemctl detects the service manager as sd_booted(3) does.
func findSystemctl() serviceManager {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return nil
	}
	path, err := exec.LookPath("systemctl")
	if err != nil {
		return nil
	}
	return func(ctx context.Context, args ...string) (string, error) {
		var problem strings.Builder
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Stderr = &problem
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("systemctl %s: %w: %s", strings.Join(args, " "), err,
				strings.TrimSpace(problem.String()))
		}
		return string(out), nil
	}
}

// states returns the ActiveState of each tenant's worker: active, inactive, failed, …; without a manager: none.
func (m serviceManager) states(ctx context.Context, names ...string) (map[string]string, error) {
	out := map[string]string{}
	if m == nil || len(names) == 0 {
		return out, nil
	}
	args := []string{"show", "--property=Id,ActiveState", "--"}
	byUnit := map[string]string{}
	for _, name := range names {
		args, byUnit[unitOf(name)] = append(args, unitOf(name)), name
	}
	text, err := m(ctx, args...)
	if err != nil {
		return nil, err
	}
	for block := range strings.SplitSeq(text, "\n\n") {
		var unit, state string
		for line := range strings.Lines(block) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			switch key {
			case "Id":
				unit = value
			case "ActiveState":
				state = value
			}
		}
		if name, ok := byUnit[unit]; ok {
			out[name] = state
		}
	}
	return out, nil
}

// isRunning reports whether a worker in this state may have a task.
func isRunning(state string) bool { return state != "" && state != "inactive" && state != "failed" }
