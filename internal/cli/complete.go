package cli

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/job"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
	"github.com/seed-7227ef26/async-worker/internal/tenants"
)

const (
	completionTimeout = 2 * time.Second // for the database, when Tab is pressed
	completedJobs     = 50              // the newest

	completedDocuments = 200 // the first by name

	completedSets = 5_000 // the documents whose sets are offered: as many as the dashboard looks at
)

// useCompletion completes values of flags and ids of jobs, for cmd and all commands below it.
func (p *program) useCompletion(cmd *cobra.Command) {
	for name, values := range flagValues() {
		if cmd.Flags().Lookup(name) != nil {
			// none is registered yet
			_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for _, name := range []string{"parent", "job"} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, p.completeJobs("")) // as above
		}
	}
	for _, name := range []string{"set", "document-set"} {
		if cmd.Flags().Lookup(name) != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, p.completeSets) // as above
		}
	}
	switch cmd.CommandPath() {
	case "async-worker jobs get", "async-worker jobs watch":
		cmd.ValidArgsFunction = p.completeJobs("") // any
	case "async-worker jobs cancel":
		cmd.ValidArgsFunction = p.completeJobs(job.Pending, job.Running)
	case "async-worker jobs retry":
		cmd.ValidArgsFunction = p.completeJobs(job.Failed)
	case "async-worker webhooks resend":
		cmd.ValidArgsFunction = p.completeDeliveries
	case "async-worker dlq show", "async-worker dlq purge":
		cmd.ValidArgsFunction = p.completeDeadLetters("") // any
	case "async-worker dlq replay":
		cmd.ValidArgsFunction = p.completeDeadLetters("no")
	case "async-worker schedules pause", "async-worker schedules resume", "async-worker schedules remove":
		cmd.ValidArgsFunction = p.completeSchedules
	case "async-worker documents delete":
		cmd.ValidArgsFunction = p.completeDocuments
	case "async-worker token remove":
		cmd.ValidArgsFunction = p.completeTokens
	}
	for _, sub := range cmd.Commands() {
		p.useCompletion(sub)
	}
}

// flagValues are the possible values of flags, by the flags' names.
func flagValues() map[string][]string {
	var types, classes []string
	if known, err := app.Types(); err == nil {
		for _, t := range known {
			types = append(types, string(t))
		}
	}
	for c := range maps.Keys(taskerr.Classes) {
		classes = append(classes, string(c))
	}
	slices.Sort(classes)
	return map[string][]string{
		"status":   states(),
		"state":    deliveryStates(),
		"type":     types,
		"class":    classes,
		"reason":   reasons(),
		"priority": {string(task.PriorityHigh), string(task.PriorityNormal), string(task.PriorityLow)},
		"replayed": {"yes", "no"},
	}
}

// completeValues completes the flag of a setting whose values can be listed.
func completeValues(cmd *cobra.Command, s config.Setting) {
	if len(s.Values) > 0 {
		// the flag exists
		_ = cmd.RegisterFlagCompletionFunc(s.Flag(), cobra.FixedCompletions(s.Values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// reasons say why there are dead letters: jobs that failed, then messages that became none. A claim check whose blob can't
// be read has its error class instead.
func reasons() []string {
	return []string{
		"permanent", "exhausted", "timeout", "worker_lost", string(task.Malformed), string(task.InvalidField),
		string(task.InvalidPayload), string(task.WrongClient), "unknown_type", "conflict", string(taskerr.InternalBug),
	}
}

// states are the states of jobs, in the order of their life.
func states() []string {
	return []string{
		string(job.Pending), string(job.Running), string(job.Succeeded), string(job.Failed), string(job.Canceled),
	}
}

// completeJobs offers the ids of the newest jobs in some states.
func (p *program) completeJobs(in ...job.State) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
		p.completing(cmd, func(ctx context.Context, t *app.Tenant) error {
			for _, state := range in {
				jobs, err := t.Store.Jobs(ctx, store.JobFilter{Status: string(state), Limit: completedJobs})
				if err != nil {
					return err
				}
				for _, j := range jobs {
					if !slices.Contains(args, j.ID) {
						ids = append(ids, printable(j.ID)+"\t"+printable(j.Status+" "+j.Type+" "+shorten(label(j), 40)))
					}
				}
			}
			return nil
		})
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeDocuments offers documents of the given set whose names start with the typed text.
func (p *program) completeDocuments(
	cmd *cobra.Command, args []string, typed string,
) (names []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	set, _ := cmd.Flags().GetString("set")
	p.completing(cmd, func(ctx context.Context, t *app.Tenant) error {
		found, err := documentsNamed(ctx, t.Store, set, typed,
			func(d store.DocumentEntry) bool { return strings.HasPrefix(d.Filename, typed) }, completedDocuments)
		for _, d := range found {
			names = append(names, printable(d.Filename)+"\t"+printable(d.DocumentSet))
		}
		return err
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeDeliveries offers the newest webhooks that could not be delivered.
func (p *program) completeDeliveries(
	cmd *cobra.Command, args []string, _ string,
) (ids []string, _ cobra.ShellCompDirective) {
	p.completing(cmd, func(ctx context.Context, t *app.Tenant) error {
		for _, status := range []string{store.DeliveryFailed, store.DeliveryRefused} {
			found, err := t.Store.ListDeliveries(ctx, store.DeliveryFilter{Status: status, Limit: completedJobs})
			if err != nil {
				return err
			}
			for _, d := range found {
				if !slices.Contains(args, d.ID) {
					ids = append(ids, printable(d.ID)+"\t"+printable(d.Status+" "+d.Event+" "+d.Host))
				}
			}
		}
		return nil
	})
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeDeadLetters offers the newest dead letters; those that were replayed or not, or any.
func (p *program) completeDeadLetters(replayed string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
		p.completing(cmd, func(ctx context.Context, t *app.Tenant) error {
			found, err := t.Store.DeadLetters(ctx, store.DeadLetterFilter{
				Replayed: replayed, Brief: true, Limit: completedJobs,
			})
			for _, d := range found {
				if !slices.Contains(args, d.ID) {
					ids = append(ids, printable(d.ID)+"\t"+printable(d.TaskType+" "+d.Reason+" "+d.ErrorClass))
				}
			}
			return err
		})
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeSchedules offers the tenant's schedules.
func (p *program) completeSchedules(
	cmd *cobra.Command, args []string, _ string,
) (ids []string, _ cobra.ShellCompDirective) {
	p.completing(cmd, func(ctx context.Context, t *app.Tenant) error {
		found, err := t.Store.Schedules(ctx, "", completedJobs)
		for _, s := range found {
			if !slices.Contains(args, s.ID) {
				ids = append(ids, printable(s.ID)+"\t"+printable(s.Cron))
			}
		}
		return err
	})
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeSets offers the document sets of the tenant.
func (p *program) completeSets(cmd *cobra.Command, _ []string, _ string) (sets []string, _ cobra.ShellCompDirective) {
	p.completing(cmd, func(ctx context.Context, t *app.Tenant) error {
		found, err := t.Store.DocumentSets(ctx, completedSets)
		for _, s := range found {
			sets = append(sets, printable(s.Name))
		}
		return err
	})
	return sets, cobra.ShellCompDirectiveNoFileComp
}

// completeTokens offers the tokens of the tenant's HTTP API, to who may read them.
func (p *program) completeTokens(
	cmd *cobra.Command, args []string, _ string,
) (names []string, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var o apiTokens
	o.root, _ = cmd.Flags().GetString("root")
	o.tenant, _ = cmd.Flags().GetString("tenant")
	_ = onMachine(o.root, func(m *tenants.Machine) error { // without permission: no names
		if err := p.chooseTenant(m, &o); err != nil {
			return err
		}
		all, err := tokensOf(m, o)
		for _, t := range all {
			names = append(names, printable(t.Name)+"\t"+t.Scope.String())
		}
		return err
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completing asks a tenant's services for candidates. If they don't answer, there are none.
func (p *program) completing(cmd *cobra.Command, ask func(ctx context.Context, t *app.Tenant) error) {
	stderr := p.stderr
	p.stderr = io.Discard // a warning would appear in the middle of the command line
	defer func() { p.stderr = stderr }()
	parent := cmd.Context()
	if parent == nil {
		parent = context.Background()
	}
	ctx, cancel := context.WithTimeout(parent, p.atLeast(completionTimeout))
	defer cancel()
	cmd.SetContext(ctx)
	_ = p.withTenant(cmd, storeOnly, ask)
}
