package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/doctor"
)

// doctorFlags are those of doctor alone.
type doctorFlags struct {
	out      format
	root     string
	webhooks []string
	skip     []string
	noCreate bool
	take     bool
	timeout  time.Duration
}

func (p *program) newDoctorCommand() *cobra.Command {
	var f doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Try every permission that the worker needs, and show the missing ones",
		Long: `doctor tries what the worker does against the live services: each right on the queues and the container,
each function, table and policy of the database with this key, the models, docling, webhooks' receivers, clocks,
disk, programs, and the tenant's files. It shows what it saw, what is missing, and the command that fixes it. It
takes no task and leaves nothing behind; docs/doctor.md describes what each check touches and costs.

Exit codes: 0 when nothing failed (a warning is not a failure), 78 when a setting, the schema or this machine is
wrong, 77 when a permission is missing, 69 when a service is down; if several apply, the first of them.`,
		Example: `  sudo async-worker doctor --tenant southhaven
  async-worker doctor --webhook-url https://app.example.com/hooks --skip models -o json`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error { return p.runDoctor(cmd, f) }),
	}
	addOutput(cmd, &f.out)
	cmd.Flags().StringVar(&f.root, "root", "/", "the folder that etc/async-worker is in")
	cmd.Flags().StringArrayVar(&f.webhooks, "webhook-url", nil,
		"a receiver to try; may be repeated (default: those of the last jobs)")
	cmd.Flags().StringSliceVar(&f.skip, "skip", nil, "groups of checks to leave out: "+strings.Join(groupNames(), ", "))
	cmd.Flags().BoolVar(&f.noCreate, "no-create", false, "don't create missing queues and containers")
	cmd.Flags().BoolVar(&f.take, "take", false,
		"also receive where tasks wait: one from each queue, given back at once")
	cmd.Flags().DurationVar(&f.timeout, "timeout", doctor.DefaultTimeout, "the timeout of one request")
	_ = cmd.RegisterFlagCompletionFunc("skip", cobra.FixedCompletions(groupNames(), cobra.ShellCompDirectiveNoFileComp))
	addSettings(cmd, config.All)
	return cmd
}

func groupNames() (names []string) {
	for _, g := range doctor.Groups() {
		names = append(names, string(g))
	}
	return names
}

func (p *program) runDoctor(cmd *cobra.Command, f doctorFlags) error {
	var skip []doctor.Group
	for _, name := range f.skip {
		if !slices.Contains(groupNames(), name) {
			return badUsage("the groups are "+strings.Join(groupNames(), ", "), "--skip: there is no group %q", name)
		}
		skip = append(skip, doctor.Group(name))
	}
	if err := p.resolveTenant(cmd, config.All); err != nil {
		return err
	}
	var cache string
	if p.tenant != "" { // this user has a folder for temporary files of its own
		cache = filepath.Join(f.root, "var/cache/async-worker", p.tenant)
	}
	report := app.Doctor(cmd.Context(), app.DoctorOptions{
		Load:     func(g config.Group) (config.Config, error) { return p.load(cmd, g) },
		Skip:     skip,
		Webhooks: f.webhooks, NoCreate: f.noCreate, Take: f.take, Timeout: f.timeout,
		EtcDir: filepath.Join(f.root, tenantsDir), CacheDir: cache, Waiting: p.stillExamining,
	})
	if cmd.Context().Err() != nil {
		return context.Cause(cmd.Context())
	}
	if err := p.printReport(f.out, report); err != nil {
		return err
	}
	if worst := report.Worst(); worst != doctor.None {
		return &reportedError{&diagnosis{worst}}
	}
	return nil
}

// stillExamining says what doctor waits for, as any command does after 3 s.
func (p *program) stillExamining(groups []doctor.Group, timeout time.Duration) {
	var names []string
	for _, g := range groups {
		names = append(names, string(g))
	}
	printWrapped(p.stderr, "doctor: ", fmt.Sprintf("waiting for answers (%s); a request takes %v at most, see --timeout",
		strings.Join(names, ", "), timeout))
}

// diagnosis means that a check failed; the output shows which.
type diagnosis struct{ worst doctor.Class }

func (d *diagnosis) Error() string { return "a check failed: " + string(d.worst) }

func (d *diagnosis) code() int {
	switch d.worst {
	case doctor.Config:
		return exitConfig
	case doctor.Permission:
		return exitPermission
	case doctor.Unavailable:
		return exitUnavailable
	}
	return exitFailed
}

// doctorReport is the JSON of doctor.
type doctorReport struct {
	doctor.Report

	Exit int `json:"exit"`
}

func (p *program) printReport(out format, r doctor.Report) error {
	if out == asJSON {
		exit := exitOK
		if worst := r.Worst(); worst != doctor.None {
			exit = (&diagnosis{worst}).code()
		}
		return printJSON(p.stdout, doctorReport{r, exit})
	}
	var rows [][]string
	for _, c := range r.Results {
		rows = append(rows, []string{c.Check, strings.ToUpper(string(c.State)), cmp.Or(shorten(c.Seen, 84), "-")})
	}
	if err := table(p.stdout, []string{"CHECK", "STATE", "SEEN"}, rows); err != nil {
		return err
	}
	count := map[doctor.State]int{}
	for _, c := range r.Results {
		count[c.State]++
		if c.State == doctor.Fail || c.State == doctor.Warn {
			fmt.Fprintf(p.stdout, "\n%s: %s\n", c.State, c.Check)
			printWrapped(p.stdout, "  seen:   ", printable(c.Seen))
			mend := p.addressed(printable(cmp.Or(c.Remedy, "nothing is known")))
			if strings.Contains(mend, "az ") || strings.Contains(mend, "sudo ") {
				// a command stays on one line so that it can be copied
				fmt.Fprintln(p.stdout, "  remedy: "+mend)
			} else {
				printWrapped(p.stdout, "  remedy: ", mend)
			}
		}
	}
	_, err := fmt.Fprintf(p.stdout, "\n%d ok, %s, %d failed, %d skipped.\n", count[doctor.OK],
		counted(count[doctor.Warn], "warning"), count[doctor.Fail], count[doctor.Skipped])
	return err
}
