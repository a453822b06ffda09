package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// tenantRemove are the flags of `tenant remove`.
type tenantRemove struct {
	root                         string
	keep, state, stop, confirmed bool
	out                          format
}

// tenantRemoved is the JSON of tenant remove.
type tenantRemoved struct {
	Name     string   `json:"tenant"`
	Stopped  bool     `json:"stopped"`
	Disabled bool     `json:"disabled"`
	Removed  []string `json:"removed"` // paths
}

func (p *program) newTenantRemoveCommand() *cobra.Command {
	var o tenantRemove
	cmd := &cobra.Command{
		Use: "remove TENANT", Short: "Disable a tenant's worker and remove its settings and secrets",
		Long: `remove disables async-worker@TENANT and removes the tenant's environment file and credentials. It
refuses while the worker runs, unless --stop lets the worker finish its tasks first (DRAIN_MAX_SEC).
--keep-files only disables the worker. --state also removes what the worker kept on this machine, and so the
documents of a BLOB_DIR in /var/lib/async-worker/TENANT. The database, the queues and the container are not
changed. Removing a tenant that does not exist is not an error.`,
		Example: `  async-worker tenant remove southhaven --stop --yes
  async-worker tenant remove southhaven --stop --keep-files`,
		Args: oneArg("the tenant's name"), ValidArgsFunction: completeTenants,
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			if err := checkTenantName(args[0]); err != nil {
				return err
			}
			if !o.keep && !o.confirmed && !isTerminal(p.stdin) {
				return badUsage("give --yes, or --keep-files to disable it only",
					"removing settings and secrets needs a confirmation, and standard input is not a terminal")
			}
			return changeMachine(o.root, func(m *tenants.Machine) error {
				done, err := p.removeTenant(cmd.Context(), m, args[0], o)
				if err != nil {
					return err
				}
				return p.printRemoved(o.out, done)
			})
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.keep, "keep-files", false, "disable the worker and remove no file")
	flags.BoolVar(&o.state, "state", false, "also remove what the worker kept in /var/lib and /var/cache")
	flags.BoolVar(&o.stop, "stop", false, "stop the worker first, if it runs")
	flags.BoolVar(&o.confirmed, "yes", false, "don't ask")
	cmd.MarkFlagsMutuallyExclusive("keep-files", "state")
	addRoot(cmd, &o.root)
	addOutput(cmd, &o.out)
	return cmd
}

func (p *program) removeTenant(
	ctx context.Context, m *tenants.Machine, name string, o tenantRemove,
) (tenantRemoved, error) {
	done := tenantRemoved{Name: name, Removed: []string{}}
	enabled, err := m.Enabled(name)
	if err != nil {
		return done, err
	}
	systemctl := p.managerOf(o.root)
	states, err := systemctl.states(ctx, name)
	if err != nil {
		return done, err
	}
	if isRunning(states[name]) && !o.stop {
		return done, &failure{
			"remove the tenant", "stop it first, or give --stop: it then finishes its tasks",
			fmt.Errorf("%s is %s", unitOf(name), states[name]),
		}
	}
	if !o.keep && !o.confirmed {
		if err := confirmRemoval(p.stdin, p.stderr, name, removal(m, name, o.state)); err != nil {
			return done, err
		}
	}
	if isRunning(states[name]) {
		if _, err := systemctl(ctx, "stop", unitOf(name)); err != nil {
			return done, err
		}
		done.Stopped = true
	}
	if systemctl != nil && enabled {
		if _, err := systemctl(ctx, "disable", unitOf(name)); err != nil {
			return done, err
		}
	} else if _, err := m.Disable(name); err != nil {
		return done, err
	}
	done.Disabled = enabled
	if o.keep {
		return done, nil
	}
	err = m.Exclusive(func() (err error) { done.Removed, err = m.Remove(name, o.state); return err })
	return done, err
}

func (p *program) printRemoved(out format, done tenantRemoved) error {
	if out == asJSON {
		return printJSON(p.stdout, done)
	}
	if done.Stopped {
		fmt.Fprintf(p.stdout, "stopped %s\n", unitOf(done.Name))
	}
	if done.Disabled {
		fmt.Fprintf(p.stdout, "disabled %s\n", unitOf(done.Name))
	}
	for _, file := range done.Removed {
		fmt.Fprintf(p.stdout, "removed %s\n", file)
	}
	if !done.Stopped && !done.Disabled && len(done.Removed) == 0 {
		fmt.Fprintf(p.stdout, "The tenant %s does not exist: nothing was removed.\n", done.Name)
	}
	return nil
}

// removal names what a removal deletes for good.
func removal(m *tenants.Machine, name string, state bool) string {
	what := "The settings and secrets of " + name
	if !state {
		return what
	}
	folder, blobs := m.State(name)
	if what += ", and what its worker kept in " + folder; blobs != "" {
		what += ", with all its documents in " + blobs + " (BLOB_DIR),"
	}
	return what
}

// confirmRemoval wants the tenant's name typed.
func confirmRemoval(in io.Reader, out io.Writer, name, what string) error {
	fmt.Fprintf(out, "%s will be removed for good. To go on, type its name: ", what)
	line, err := bufio.NewReader(io.LimitReader(in, 1024)).ReadString('\n')
	if err != nil && err != io.EOF {
		return fmt.Errorf("read the answer: %w", err)
	}
	if strings.TrimSpace(line) != name {
		return badUsage("repeat the command and type the tenant's name, or give --keep-files to disable it only",
			"nothing was done: the answer was not %q", name)
	}
	return nil
}
