package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/cognee"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

const nextCognee = "check COGNEE_URL and COGNEE_API_KEY: async-worker doctor"

func (p *program) newCogneeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cognee", Short: "Show and repair what Cognee has of the documents", Args: needsSubcommand, RunE: showHelp,
	}
	cmd.AddCommand(p.newCogneeStatusCommand(), p.newCogneeReconcileCommand(), p.newCogneeRetryCommand(),
		p.newCogneeOffCommand())
	return cmd
}

func (p *program) newCogneeStatusCommand() *cobra.Command {
	var out format
	cmd := &cobra.Command{
		Use: "status", Short: "Show what waits for Cognee, and what it refused",
		Long: `status shows the documents that Cognee does not have yet, the first of those that it refused or that
were given up, and how far Cognee is with each document set.`,
		Example: `  async-worker cognee status
  async-worker cognee status -o json | jq .pending`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				s, err := t.Store.CogneeState(ctx)
				if err != nil {
					return &failure{"show the outbox for Cognee", nextStore, err}
				}
				return p.printCognee(out, s)
			})
		}),
	}
	addOutput(cmd, &out)
	addSettings(cmd, storeOnly)
	return cmd
}

// cogneeStatus is the JSON of the outbox for Cognee.
type cogneeStatus struct {
	Enabled       bool                       `json:"enabled"`
	DownSince     *time.Time                 `json:"down_since,omitempty"`
	LastError     string                     `json:"last_error,omitempty"`
	Pending       int                        `json:"pending"`
	Due           int                        `json:"due"`
	OldestSeconds float64                    `json:"oldest_seconds"`
	Refused       int                        `json:"refused"`
	Failed        int                        `json:"failed"`
	Datasets      []store.CogneeDatasetState `json:"datasets"`
	Troubled      []store.CogneeTroubled     `json:"troubled"`
}

func (p *program) printCognee(out format, s store.CogneeState) error {
	if out == asJSON {
		return printJSON(p.stdout, cogneeStatus{
			s.Enabled, s.DownSince, s.LastError, s.Pending, s.Due, s.Oldest.Seconds(), s.Refused, s.Failed,
			orEmpty(s.Datasets), orEmpty(s.Troubled),
		})
	}
	if !s.Enabled {
		fmt.Fprintln(p.stdout, "no worker of this tenant has had COGNEE_URL: nothing is noted for Cognee")
		return nil
	}
	fmt.Fprintf(p.stdout, "waiting: %d documents, %d of them due", s.Pending, s.Due)
	if s.Oldest > 0 {
		fmt.Fprintf(p.stdout, ", the oldest for %s", s.Oldest.Round(time.Second))
	}
	fmt.Fprintf(p.stdout, "; refused: %d; given up: %d\n", s.Refused, s.Failed)
	if s.DownSince != nil {
		fmt.Fprintln(p.stdout, printable("Cognee is down since "+formatTime(*s.DownSince)+": "+s.LastError))
	}
	if len(s.Datasets) > 0 {
		rows := make([][]string, 0, len(s.Datasets))
		for _, d := range s.Datasets {
			rows = append(rows, []string{
				d.DocumentSet, d.State, strconv.Itoa(d.Changes), formatTimePtr(d.FinishedAt), d.LastError,
			})
		}
		if err := table(p.stdout, []string{"SET", "STATE", "CHANGES", "FINISHED", "ERROR"}, rows); err != nil {
			return err
		}
	}
	if len(s.Troubled) == 0 {
		return nil
	}
	items := make([]item, 0, len(s.Troubled))
	for _, d := range s.Troubled {
		items = append(items, item{
			[]string{d.DocumentID, d.DocumentSet, strconv.Itoa(d.Version), d.Status, strconv.Itoa(d.Attempts)}, d.LastError,
		})
	}
	return listing(p.stdout, []string{"DOCUMENT", "SET", "VERSION", "STATE", "TRIES"}, items)
}

func (p *program) newCogneeReconcileCommand() *cobra.Command {
	var out format
	dry := false
	const groups = config.Tenant | config.Store | config.Cognee
	cmd := &cobra.Command{
		Use: "reconcile", Short: "Make Cognee have what the index has",
		Long: `reconcile compares the tenant's index with Cognee. Documents that Cognee lacks are queued for the
tenant's worker; documents that Cognee has and the index lacks are forgotten at once. Run it when COGNEE_URL is set
for an index that has documents already, and after either side was restored. Other rows in Cognee are left alone.`,
		Example: `  async-worker cognee reconcile --dry-run
  async-worker cognee reconcile`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			return p.withTenant(cmd, groups, func(ctx context.Context, t *app.Tenant) error {
				if t.Config.Cognee.URL == "" {
					return p.missingCognee()
				}
				done, err := t.ReconcileCognee(ctx, dry)
				if err == nil {
					return p.printReconciled(out, done)
				}
				next := nextStore
				if _, ok := errors.AsType[*cognee.Error](err); ok {
					next = nextCognee
				}
				return &failure{"reconcile Cognee with the index", next, err}
			})
		}),
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only count what would be done")
	addOutput(cmd, &out)
	addSettings(cmd, groups)
	return cmd
}

// missingCognee is a wrong setting, as any other that a command needs and that isn't set.
func (p *program) missingCognee() error {
	remedy := "set it to the address of the Cognee server"
	if p.tenant != "" {
		remedy = "set it to the address of the Cognee server: sudo async-worker tenant edit " + p.tenant
	}
	return &config.Errors{Problems: []config.Problem{{Name: "COGNEE_URL", Problem: "it is not set", Remedy: remedy}}}
}

func (p *program) printReconciled(out format, r cognee.Reconciled) error {
	if out == asJSON {
		return printJSON(p.stdout, r)
	}
	queued, forgotten := "are queued", "were forgotten"
	if r.DryRun {
		queued, forgotten = "would be queued", "would be forgotten"
	}
	fmt.Fprintf(p.stdout, "%d documents are in the index, %d rows of ours in Cognee\n", r.InIndex, r.InCognee)
	fmt.Fprintf(p.stdout, "%d documents %s, %d wait already; %d rows %s\n", r.Queued, queued, r.Waiting, r.Forgotten,
		forgotten)
	if r.Foreign > 0 {
		fmt.Fprintf(p.stdout, "%d rows in the tenant's datasets are not the worker's, and stay\n", r.Foreign)
	}
	return nil
}

func (p *program) newCogneeRetryCommand() *cobra.Command {
	var out format
	cmd := &cobra.Command{
		Use: "retry", Short: "Send again what Cognee refused or what was given up",
		Long: `retry makes the documents due again that Cognee refused, or that were given up after the last attempt,
and the document sets that it could not work into its graph. The tenant's worker sends them.`,
		Example: `  async-worker cognee retry`,
		Args:    noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				n, err := t.Store.RetryCognee(ctx)
				if err != nil {
					return &failure{"send documents to Cognee again", nextStore, err}
				}
				if out == asJSON {
					return printJSON(p.stdout, n)
				}
				fmt.Fprintf(p.stdout, "%d documents and %d document sets are due again\n", n.Documents, n.Datasets)
				return nil
			})
		}),
	}
	addOutput(cmd, &out)
	addSettings(cmd, storeOnly)
	return cmd
}

func (p *program) newCogneeOffCommand() *cobra.Command {
	var out format
	cmd := &cobra.Command{
		Use: "off", Short: "Note no more documents for Cognee",
		Long: `off ends the noting of documents for Cognee, and removes what was noted. Cognee keeps what it has. Run
it after COGNEE_URL was removed from the settings and the workers were restarted: a worker that starts with it begins
again, and reconcile then finds what has changed.`,
		Example: `  async-worker cognee off`,
		Args:    noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				n, err := t.Store.CloseCognee(ctx)
				if err != nil {
					return &failure{"end the noting of documents for Cognee", nextStore, err}
				}
				if out == asJSON {
					return printJSON(p.stdout, map[string]int{"documents": n})
				}
				fmt.Fprintf(p.stdout, "nothing is noted for Cognee any more; notes of %d documents were removed\n", n)
				return nil
			})
		}),
	}
	addOutput(cmd, &out)
	addSettings(cmd, storeOnly)
	return cmd
}
