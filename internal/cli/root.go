// Package cli is the command line of async-worker: the daemon's command and those of operators, one file for each.
// internal/app does the wiring.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/logging"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// program is what all subcommands share. Tests replace its parts.
type program struct {
	env            []string
	envFiles       map[string]string // of the tenant: the file that a variable of env stands in
	stdin          io.Reader
	stdout, stderr io.Writer
	open           func(context.Context, config.Config, *slog.Logger, app.Needs) (*app.Tenant, error)
	systemctl      serviceManager           // nil: there is none
	setenv         func(name, value string) // of the process, for libraries; empty value: unset; nil func: don't
	redirect       func(*slog.Logger)       // the process's standard log, for libraries; nil: don't

	patience       time.Duration   // with services that have not answered anything; zero: databasePatience, patientServices
	columns        int             // of the terminal that shows help; zero: it is asked
	level          slog.LevelVar   // of the daemon's log; a reload changes it
	daemon         bool            // it is run
	tenant         string          // the machine's tenant whose settings are used; empty: none
	root           string          // the machine's root folder, if there is a tenant; empty: /
	unit           string          // the tenant of the systemd unit that this process is; empty: it is none
	paths          map[string]bool // of the commands, as "async-worker jobs get": whether they take --tenant
	pathsOnce      sync.Once
	tenantResolved bool // resolveTenant has run
	acting         bool // a subcommand runs: its errors are not bad usage unless they say so
}

// Run is the whole program. It returns the exit code.
func Run(ctx context.Context, args, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return RunPatiently(ctx, 0, args, env, stdin, stdout, stderr)
}

// RunPatiently is Run with a patience with services that do not answer; zero: that of Run. It is for tests of the whole
// program, on machines where a service may be silent for longer than a user would wait.
func RunPatiently(
	ctx context.Context, patience time.Duration, args, env []string, stdin io.Reader, stdout, stderr io.Writer,
) int {
	p := &program{
		env: env, stdin: stdin, stdout: stdout, stderr: stderr, open: app.Open, systemctl: findSystemctl(),
		setenv: setenv, redirect: logging.RedirectStandard, patience: patience,
	}
	return p.run(ctx, args)
}

// Root returns the tree of all commands, for what is generated from it.
func Root() *cobra.Command { return (&program{}).newRootCommand("") }

func setenv(name, value string) {
	if value == "" {
		_ = os.Unsetenv(name) // fails only for an invalid name
		return
	}
	_ = os.Setenv(name, value)
}

func (p *program) run(ctx context.Context, args []string) int {
	signal.Ignore(syscall.SIGUSR1) // it wakes a running worker and must not kill a starting one
	// The first signal ends ctx: `run` drains, every other command stops.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second one ends the process; the daemon handles it itself
	root := p.newRootCommand(p.named(args))
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	_, known := errors.AsType[*usageError](err)
	_, unwritten := errors.AsType[*fs.PathError](err) // the output of completion
	if err != nil && !p.acting && !known && !unwritten {
		err = &usageError{err, "async-worker --help lists the commands"}
	}
	if _, reported := errors.AsType[*reportedError](err); err != nil && !reported && !p.daemon && ctx.Err() != nil &&
		!errors.Is(err, context.Canceled) {
		err = ctx.Err() // services wrap it in errors of their own
	}
	return p.report(err)
}

// newRootCommand makes the tree of all commands, or of one of them.
func (p *program) newRootCommand(only string) *cobra.Command {
	root := &cobra.Command{
		Use:     "async-worker",
		Version: app.Version,
		Short:   "Does the document tasks of one tenant, from a queue message to a search answer and a webhook",
		Long: `async-worker takes tasks from a tenant's queues, does them (ingest a document, read a scan,
summarize, answer questions), records everything in Supabase or Postgres, and notifies the sender by webhook.

Settings come from flags, systemd credentials, files (NAME_FILE) and environment variables, in this order;
check-config shows which are in force. On a machine with tenants (async-worker tenant list), commands take
--tenant NAME and use that tenant's settings and credentials in /etc/async-worker. This needs root or an
operator (docs/systemd.md). A single tenant is the default.

Exit codes: 0 fine, 1 failed, 2 usage, 69 a service is down, 75 try again, 77 permission, 78 configuration.`,
		Example: `  async-worker check-config                           show the settings, or all that is wrong
  async-worker doctor                                 show missing permissions, and how to grant them
  async-worker run --client-id southhaven             the daemon
  async-worker enqueue --upload report.pdf --type ingest --document-set reports --watch
  async-worker search "notice period" --set reports`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          needsSubcommand,
		RunE:          showHelp,
	}
	root.SetIn(p.stdin)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetFlagErrorFunc(wrongFlag)
	for _, c := range p.commands() {
		if only == "" || c.name == only {
			root.AddCommand(c.make())
		}
	}
	p.useHelp(root)
	p.useCompletion(root)
	return root
}

// namedCommand is a command that is not made yet.
type namedCommand struct {
	name string
	make func() *cobra.Command
}

// commands are all that the program has.
func (p *program) commands() []namedCommand {
	return []namedCommand{
		{"run", p.newRunCommand},
		{"enqueue", p.newEnqueueCommand},
		{"jobs", p.newJobsCommand},
		{"dlq", p.newDLQCommand},
		{"schedules", p.newSchedulesCommand},
		{"search", p.newSearchCommand},
		{"extract", p.newExtractCommand},
		{"migrate", p.newMigrateCommand},
		{"check-config", p.newCheckConfigCommand},
		{"status", p.newStatusCommand},
		{"reload", p.newReloadCommand},
		{"version", p.newVersionCommand},
		{"doctor", p.newDoctorCommand},
		{"queue", p.newQueueCommand},
		{"ask", p.newAskCommand},
		{"summarize", p.newSummarizeCommand},
		{"webhooks", p.newWebhooksCommand},
		{"tenant", p.newTenantCommand},
		{"documents", p.newDocumentsCommand},
		{"token", p.newTokenCommand},
		{"front", p.newFrontCommand},
		{"mcp", p.newMCPCommand},
		{"cognee", p.newCogneeCommand},
	}
}

// named returns the command that args name first; empty: they name none, or one that is about others, as help is. Most
// commands have a flag for each setting, and all of them together are more than half a megabyte, which a worker would
// keep for as long as it runs.
func (p *program) named(args []string) string {
	if len(args) > 0 && slices.ContainsFunc(p.commands(), func(c namedCommand) bool { return c.name == args[0] }) {
		return args[0]
	}
	return ""
}

// showHelp runs a command that only groups others.
func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// action marks errors of do as failures of the command: only a usageError is still bad usage.
func (p *program) action(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p.acting = true
		return do(cmd, args)
	}
}

// databasePatience is shorter than the connection timeout of DATABASE_URL, so that all commands report a database that
// hangs in the same words.
const databasePatience = 8 * time.Second

// withTenant loads the settings of the groups, opens the services among them, and closes these after do.
func (p *program) withTenant(
	cmd *cobra.Command, groups config.Group, do func(ctx context.Context, t *app.Tenant) error,
) (err error) {
	cfg, log, err := p.settings(cmd, groups)
	if err != nil {
		return err
	}
	t, err := p.open(cmd.Context(), cfg, log, groups&app.Everything)
	if err != nil {
		return &failure{"connect", app.NextServices(err), err}
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	err = do(p.patient(store.WithPatience(cmd.Context(), cmp.Or(p.patience, databasePatience))), t)
	if f, ok := errors.AsType[*failure](err); ok {
		if more, found := strings.CutPrefix(f.next, nextStore); found {
			f.next = t.NextDatabaseAfter(err) + more
		}
	}
	return err
}
