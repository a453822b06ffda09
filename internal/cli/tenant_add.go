package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

// tenantAdd are the flags of `tenant add`.
type tenantAdd struct {
	root        string
	envFile     string
	secretFiles []string // NAME=PATH
	promptFor   []string // NAME
	force       bool
	out         format
}

// tenantAdded is the JSON of tenant add.
type tenantAdded struct {
	tenants.Added
	Next string `json:"next"` // the command that puts it in force
}

func (p *program) newTenantAddCommand() *cobra.Command {
	var o tenantAdd
	cmd := &cobra.Command{
		Use: "add TENANT", Short: "Write a tenant's settings and secrets, and show how to start it",
		Long: `add writes /etc/async-worker/TENANT.env and, for each secret, a file in
/etc/async-worker/credentials/TENANT that only root and operators can read. It first validates everything as the
worker will, then replaces each file as a whole. Repeating the command changes nothing. To change an existing
tenant, for instance a secret, give --force: it changes only the settings and secrets that you name.

A secret is never an argument, because everybody can read the list of processes. It comes from a file, from
standard input (-), or from the terminal. Secrets in an --env-file become credentials.`,
		Example: `  async-worker tenant add southhaven --azure-storage-account stsouthhaven --supabase-url https://p.supabase.co \
    --secret SUPABASE_KEY --secret OPENAI_API_KEY --secret WEBHOOK_SECRET
  async-worker tenant add southhaven --env-file southhaven.env
  vault read … | async-worker tenant add southhaven --force --secret-file SUPABASE_KEY=-`,
		Args: oneArg("the tenant's name"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error { return p.addTenant(cmd, args[0], o) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.envFile, "env-file", "", "take settings from an environment file; -: standard input")
	flags.StringArrayVar(&o.secretFiles, "secret-file", nil,
		"NAME=PATH: take a secret from a file; NAME=-: from standard input")
	flags.StringArrayVar(&o.promptFor, "secret", nil, "NAME: ask for a secret at the terminal")
	flags.BoolVar(&o.force, "force", false, "change an existing tenant")
	addRoot(cmd, &o.root)
	addOutput(cmd, &o.out)
	for _, s := range config.Settings() {
		if s.Flag() != "" && s.Name != "CLIENT_ID" {
			flags.String(s.Flag(), "", fmt.Sprintf("%s (%s; default %s)", s.Help, s.Name, s.DefaultText()))
			completeValues(cmd, s)
		}
	}
	secret := cobra.FixedCompletions(secretNames(), cobra.ShellCompDirectiveNoFileComp)
	_ = cmd.RegisterFlagCompletionFunc("secret", secret) // both flags exist
	_ = cmd.MarkFlagFilename("env-file")
	return cmd
}

func secretNames() []string {
	var names []string
	for _, s := range config.Settings() {
		if s.Secret {
			names = append(names, s.Name)
		}
	}
	return names
}

func (p *program) addTenant(cmd *cobra.Command, name string, o tenantAdd) error {
	if err := checkTenantName(name); err != nil {
		return err
	}
	change := tenants.Change{Name: name, Force: o.force}
	// Check the permission before asking for secrets.
	err := changeMachine(o.root, func(*tenants.Machine) error { return nil })
	if err != nil {
		return err
	}
	if change.Settings, err = p.givenSettings(cmd, o.envFile); err != nil {
		return err
	}
	if change.Secrets, err = p.givenSecrets(o); err != nil {
		return err
	}
	return changeMachine(o.root, func(m *tenants.Machine) error {
		var added tenants.Added
		err := m.Exclusive(func() (err error) { added, err = m.Add(change); return err })
		if e, ok := errors.AsType[*tenants.ExistsError](err); ok {
			return &failure{"add the tenant", "to change them, repeat the command with --force; nothing was written", e}
		} else if _, wrong := errors.AsType[*config.Errors](err); wrong {
			return &failure{"add the tenant", "nothing was written; correct them and repeat the command", err}
		} else if err != nil {
			return err
		}
		return p.printAdded(o.out, tenantAdded{added, p.afterAdd(cmd.Context(), m, o.root, added)})
	})
}

// givenSettings are the file's settings, overridden by flags.
func (p *program) givenSettings(cmd *cobra.Command, envFile string) (map[string]string, error) {
	settings := map[string]string{}
	if envFile != "" {
		raw, err := p.readArgument(envFile)
		if err != nil {
			return nil, fileError("--env-file", envFile, err)
		}
		if settings, err = tenants.ParseEnv(string(raw)); err != nil {
			return nil, badUsage("systemd.exec(5) has the syntax of an environment file", "--env-file: %w", err)
		}
	}
	for _, s := range config.Settings() {
		if f := cmd.Flags().Lookup(s.Flag()); s.Flag() != "" && f != nil && f.Changed {
			settings[s.Name] = f.Value.String()
		}
	}
	return settings, nil
}

// givenSecrets reads files and asks. Its errors quote no argument, which might be a secret by mistake.
func (p *program) givenSecrets(o tenantAdd) (map[string]config.Secret, error) {
	const remedy = "a secret is never an argument: give --secret NAME to be asked, or --secret-file NAME=PATH"
	secrets := map[string]config.Secret{}
	known := secretNames()
	stdin := o.envFile == "-"
	for _, arg := range o.secretFiles {
		name, path, ok := strings.Cut(arg, "=")
		if !ok || !slices.Contains(known, name) || path == "" {
			return nil, badUsage(remedy, "--secret-file is not NAME=PATH with the name of a secret setting")
		}
		if path == "-" && stdin {
			return nil, badUsage("take the others from files", "standard input can be read only once")
		}
		stdin = stdin || path == "-"
		raw, err := p.readArgument(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil, badUsage("check what follows NAME=: it is the path of a file, never the secret itself",
				"--secret-file %s: there is no such file", name)
		} else if err != nil {
			return nil, fileError("--secret-file "+name, path, err)
		}
		secrets[name] = config.NewSecret(strings.TrimSpace(string(raw)))
	}
	for _, name := range o.promptFor {
		if !slices.Contains(known, name) {
			return nil, badUsage(remedy, "--secret does not name a secret setting")
		}
		text, err := p.ask(name)
		if err != nil {
			return nil, err
		}
		secrets[name] = config.NewSecret(text)
	}
	for name, s := range secrets {
		if !s.IsSet() {
			return nil, badUsage("write its value into the file, or leave it out", "the secret %s is empty", name)
		}
	}
	return secrets, nil
}

// maxArgument bounds a file of settings, in bytes.
const maxArgument = 1 << 20

// readArgument reads a file, or standard input for "-".
func (p *program) readArgument(path string) ([]byte, error) {
	in := p.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxArgument+1))
	if len(raw) > maxArgument {
		return nil, fmt.Errorf("it is larger than %d bytes; is it the right file?", maxArgument)
	}
	return raw, err
}

// ask reads a secret from the terminal without showing it.
func (p *program) ask(name string) (string, error) {
	f, ok := p.stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return "", badUsage("use --secret-file "+name+"=PATH, or "+name+"=- for standard input",
			"can't ask for %s: standard input is not a terminal", name)
	}
	fmt.Fprintf(p.stderr, "%s: ", name)
	text, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(p.stderr)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return strings.TrimSpace(string(text)), nil
}

// afterAdd returns the command that puts the written settings in force. They are written, so that a service manager
// that does not answer is no failure.
func (p *program) afterAdd(ctx context.Context, m *tenants.Machine, root string, added tenants.Added) string {
	name := added.Name
	unit := strings.TrimSuffix(unitOf(name), ".service")
	states, err := p.managerOf(root).states(ctx, name)
	enabled, enabledErr := m.Enabled(name)
	if err = errors.Join(err, enabledErr); err != nil {
		printWrapped(p.stderr, "warning: ", "whether the worker runs is not known: "+err.Error())
		return "systemctl restart " + unit
	}
	switch running := isRunning(states[name]); {
	case root != "/" && !enabled:
		return "systemctl --root=" + root + " enable " + unit
	case root != "/" || enabled && running && len(added.Changed) == 0:
		return ""
	case running && len(added.Changed) > 0: // however it was started; credentials are read only at the start
		return "systemctl restart " + unit
	case enabled:
		return "systemctl start " + unit
	}
	return "systemctl enable --now " + unit
}

func (p *program) printAdded(out format, a tenantAdded) error {
	if out == asJSON {
		a.Warnings = orEmpty(a.Warnings)
		return printJSON(p.stdout, a)
	}
	if len(a.Changed) == 0 {
		fmt.Fprintf(p.stdout, "The tenant %s already has these settings: nothing was written.\n", a.Name)
	} else {
		printWrapped(p.stdout, a.EnvFile+": ", strings.Join(a.Settings, ", "))
		if len(a.Secrets) > 0 {
			printWrapped(p.stdout, "secrets: ", strings.Join(a.Secrets, ", "))
		}
		printWrapped(p.stdout, "written: ", strings.Join(a.Changed, ", "))
	}
	for _, w := range a.Warnings {
		fmt.Fprintln(p.stdout)
		printWrapped(p.stdout, "warning: ", w.Name+": "+w.Problem)
		printWrapped(p.stdout, "  remedy:  ", w.Remedy)
	}
	if a.Next == "" {
		return nil
	}
	_, err := fmt.Fprintf(p.stdout, "\nnext: %s\n", a.Next)
	return err
}
