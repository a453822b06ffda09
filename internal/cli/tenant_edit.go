package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

func (p *program) newTenantEditCommand() *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use: "edit TENANT", Short: "Edit a tenant's settings, and check them before they are written",
		Long: `edit opens a copy of /etc/async-worker/TENANT.env in $VISUAL or $EDITOR and checks it as check-config
does, with the tenant's secrets. If settings are wrong, it shows them and asks whether to edit again, keep them
anyway, or discard the changes. It replaces the file as a whole and keeps its owner. It reloads and restarts
nothing, and prints the command that does. For secrets: tenant add --force --secret NAME.`,
		Example: `  sudo async-worker tenant edit southhaven
  sudo EDITOR=nano async-worker tenant edit southhaven`,
		Args: oneArg("the tenant's name"), ValidArgsFunction: completeTenants,
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			if err := checkTenantName(args[0]); err != nil {
				return err
			}
			return changeMachine(root, func(m *tenants.Machine) error {
				e, err := m.Edit(args[0])
				if errors.Is(err, fs.ErrNotExist) {
					return &failure{
						"edit the settings",
						"sudo async-worker tenant list shows the tenants; sudo async-worker tenant add " + args[0] +
							" adds one",
						&unknownTenantError{args[0], filepath.Join(root, tenantsDir)},
					}
				} else if err != nil {
					return err
				}
				if !isTerminal(p.stdin) {
					return badUsage("edit "+e.Path+
						" with another tool, then run async-worker check-config --tenant "+e.Name,
						"editing needs a terminal")
				}
				return p.editTenant(cmd.Context(), m, root, e, p.runEditor)
			})
		}),
	}
	addRoot(cmd, &root)
	return cmd
}

// editTenant repeats editing a copy until it is valid or the user decides otherwise.
func (p *program) editTenant(
	ctx context.Context, m *tenants.Machine, root string, e tenants.Edit,
	edit func(ctx context.Context, path string) error,
) (err error) {
	// Only its owner can read this folder, and so also what editors write beside the copy.
	folder, err := os.MkdirTemp("", "async-worker-edit-")
	if err != nil {
		return err
	}
	path := filepath.Join(folder, e.Name+".env")
	if err := os.WriteFile(path, []byte(e.Text), 0o600); err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	defer func() {
		if now, readErr := os.ReadFile(path); err != nil && readErr == nil && string(now) != e.Text {
			printWrapped(p.stderr, "", "your edited copy is kept: "+path)
			return
		}
		err = errors.Join(err, os.RemoveAll(folder))
	}()
	ctx = context.WithoutCancel(ctx) // Ctrl-C belongs to the editor, and each question offers a way out
	answers := bufio.NewReader(p.stdin)
	for {
		if err := edit(ctx, path); err != nil {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read what was edited: %w", err)
		}
		text := string(raw)
		if text == e.Text {
			_, err := fmt.Fprintln(p.stdout, "Nothing was changed.")
			return err
		}
		warnings, err := m.CheckEdit(e, text)
		problems, wrong := errors.AsType[*config.Errors](err)
		if err != nil && !wrong {
			return err
		}
		what := keepEdit
		if wrong {
			p.printProblems(p.stderr, problems.Problems)
			if what, err = p.askEdit(ctx, answers); err != nil {
				return err
			}
		}
		switch what {
		case editAgain:
		case dropEdit:
			_, err := fmt.Fprintln(p.stdout, "The changes were thrown away.")
			return err
		default:
			if err := m.Exclusive(func() error { return m.Apply(e, text) }); err != nil {
				return &failure{"write the settings", "nothing was written: edit the current file again", err}
			}
			return p.afterEdit(ctx, m, root, e, text, warnings, wrong)
		}
	}
}

// What to do with wrong settings.
const (
	editAgain = "e"
	keepEdit  = "k"
	dropEdit  = "t"
)

func (p *program) askEdit(ctx context.Context, answers *bufio.Reader) (string, error) {
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		fmt.Fprint(p.stderr,
			"(e)dit again, (k)eep them although the worker will refuse them, or (t)hrow the changes away? ")
		line, err := answers.ReadString('\n')
		switch answer := strings.ToLower(strings.TrimSpace(line)); {
		case slices.Contains([]string{editAgain, keepEdit, dropEdit}, answer):
			return answer, nil
		case err == io.EOF: // the terminal is gone
			return dropEdit, nil
		case err != nil:
			return "", fmt.Errorf("read the answer: %w", err)
		}
	}
}

// afterEdit prints what was written and the command that puts it in force.
func (p *program) afterEdit(
	ctx context.Context, m *tenants.Machine, root string, e tenants.Edit, text string, warnings []config.Problem,
	wrong bool,
) error {
	changed := e.ChangedBy(text)
	next := "async-worker tenant edit " + e.Name + " fixes them; a running worker keeps the old ones"
	if !wrong {
		next = p.afterAdd(ctx, m, root, tenants.Added{Tenant: tenants.Tenant{Name: e.Name}, Changed: changed})
		if unit, ok := strings.CutPrefix(next, "systemctl restart "); ok && allLive(changed) {
			next = "systemctl reload " + unit
		}
	}
	what := strings.Join(changed, ", ")
	if what == "" {
		what = "no setting was changed, only the file's text"
	}
	fmt.Fprintf(p.stdout, "%s: %s\n", e.Path, what)
	for _, w := range warnings {
		printWrapped(p.stdout, "warning: ", w.Name+": "+w.Problem)
		printWrapped(p.stdout, "  remedy:  ", w.Remedy)
	}
	if next != "" {
		fmt.Fprintf(p.stdout, "\nnext: %s\n", next)
	}
	return nil
}

// allLive reports whether a reload applies all of these settings.
func allLive(names []string) bool {
	taken := map[string]bool{}
	for _, s := range config.Settings() {
		taken[s.Name] = s.Live
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !taken[name] })
}

// runEditor edits a file with the user's editor. The variable may contain arguments, as in a shell.
func (p *program) runEditor(ctx context.Context, path string) error {
	editor := cmp.Or(p.getenv("VISUAL"), p.getenv("EDITOR"), "editor")
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt) // Ctrl-C must not end this program while the editor runs
	defer signal.Stop(interrupted)
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", path)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.env, p.stdin, p.stdout, p.stderr
	if err := cmd.Run(); err != nil {
		return &failure{
			"run the editor", "set EDITOR to one that is installed, such as EDITOR=nano; nothing was changed",
			fmt.Errorf("%s: %w", editor, err),
		}
	}
	return nil
}
