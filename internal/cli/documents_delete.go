package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/task"
)

// deleteFlags are the flags of `documents delete`.
type deleteFlags struct {
	out               format
	set               string
	purge, yes, watch bool
}

func (p *program) newDocumentsDeleteCommand() *cobra.Command {
	var d deleteFlags
	cmd := &cobra.Command{
		Use: "delete FILENAME", Short: "Remove a document from the index, by a task for the tenant's worker",
		Long: `delete queues a task that removes a document from the index, with its summaries and extracted text. The
document's own blob stays; --purge also removes the blobs derived from it. delete asks for confirmation unless
--yes, and prints the job's id. A worker of the tenant must be running; --watch waits for the job.`,
		Example: `  async-worker documents delete 2026/report.pdf --set reports --watch
  async-worker documents delete 2026/report.pdf --set reports --purge --yes`,
		Args: oneArg("a FILENAME"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			if args[0] == "" {
				return badUsage("async-worker documents list shows the names", "the FILENAME is empty")
			}
			if d.set == "" {
				return badUsage("name the set with --set; async-worker documents list shows the sets",
					"--set is missing: a document's name is unique only within its set")
			}
			return p.withTenant(cmd, shortcutNeeds,
				func(ctx context.Context, t *app.Tenant) error { return p.deleteDocument(ctx, t, args[0], d) })
		}),
	}
	cmd.Flags().StringVar(&d.set, "set", "", "the document's set")
	cmd.Flags().BoolVar(&d.purge, "purge", false, "also remove the blobs derived from it")
	cmd.Flags().BoolVar(&d.yes, "yes", false, "don't ask")
	cmd.Flags().BoolVarP(&d.watch, "watch", "w", false, "follow the job to its end; exit with 1 unless it succeeds")
	addOutput(cmd, &d.out)
	addSettings(cmd, shortcutNeeds)
	return cmd
}

func (p *program) deleteDocument(ctx context.Context, t *app.Tenant, filename string, d deleteFlags) error {
	found, err := documentsNamed(ctx, t.Store, d.set, filename,
		func(e store.DocumentEntry) bool { return e.Filename == filename }, 1)
	if err != nil {
		return &failure{"look for the document", nextStore, err}
	}
	if len(found) == 0 {
		return &failure{
			"delete the document",
			"async-worker documents list shows the documents; what was derived from one that is not in the index is removed by:\n" +
				"async-worker enqueue " + strings.ReplaceAll("--delete --filename "+shellQuoted(filename)+" --document-set "+
				shellQuoted(d.set), " ", noBreak),
			&notFoundError{fmt.Errorf("there is no document %q in the set %q", printable(filename), printable(d.set))},
		}
	}
	if !d.yes && !isTerminal(p.stdin) { // asked after the look: a name that is wrong is said at once
		return badUsage("check with async-worker documents list, then give --yes",
			"deleting the document needs a confirmation, and standard input is not a terminal")
	}
	if !d.yes {
		what := fmt.Sprintf("%s of the set %s of %s, with %d chunks, will be removed from the index.",
			printable(filename), printable(d.set), t.Config.ClientID, found[0].Chunks)
		if err := confirm(p.stdin, p.stderr, what, "delete", "nothing was deleted"); err != nil {
			return err
		}
	}
	m := &message{
		kind: string(task.Ingest), filename: filename, set: d.set, priority: string(task.PriorityNormal), remove: true,
		purge: d.purge,
	}
	drafts, err := m.drafts(nil, strings.NewReader(""))
	if err != nil {
		return err
	}
	letters, err := submissions(drafts, t.Config.ClientID)
	if err != nil {
		return err
	}
	return p.enqueue(ctx, t, letters, d.out, d.watch)
}
