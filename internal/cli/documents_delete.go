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
		Use: "delete FILENAME", Short: "Take a document out of the index, by a task of the tenant's worker",
		Long: `delete queues a task that takes a document out of the index, with its summaries and what was read of it. The
document's own blob stays; --purge also removes the blobs that were derived of it. It asks before, or wants --yes,
and prints the job's id. A worker of the tenant has to run; --watch waits for it.`,
		Example: `  async-worker documents delete 2026/report.pdf --set reports --watch
  async-worker documents delete 2026/report.pdf --set reports --purge --yes`,
		Args: oneArg("a FILENAME"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			if args[0] == "" {
				return badUsage("async-worker documents list shows the names", "the FILENAME is empty")
			}
			if d.set == "" {
				return badUsage("say with --set of which set it is; async-worker documents list shows the sets",
					"two sets may each have a document of this name")
			}
			if !d.yes && !isTerminal(p.stdin) {
				return badUsage("look with async-worker documents list, then give --yes",
					"nobody is there to be asked whether to delete the document")
			}
			return p.withTenant(cmd, shortcutNeeds,
				func(ctx context.Context, t *app.Tenant) error { return p.deleteDocument(ctx, t, args[0], d) })
		}),
	}
	cmd.Flags().StringVar(&d.set, "set", "", "the document's set")
	cmd.Flags().BoolVar(&d.purge, "purge", false, "remove the blobs that were derived of it, too")
	cmd.Flags().BoolVar(&d.yes, "yes", false, "don't ask")
	cmd.Flags().BoolVarP(&d.watch, "watch", "w", false, "follow the job to its end; exit with 1 unless it succeeds")
	_ = cmd.RegisterFlagCompletionFunc("set", p.completeSets) // it was added just now
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
			"delete the document", "async-worker documents list shows those that there are; what was made of one " +
				"that is not in the index goes with async-worker enqueue --delete",
			&notFoundError{fmt.Errorf("there is no document %q in the set %q", printable(filename), printable(d.set))},
		}
	}
	if !d.yes {
		what := fmt.Sprintf("%s of the set %s of %s, with %d chunks, will be taken out of the index.",
			printable(filename), printable(d.set), t.Config.ClientID, found[0].Chunks)
		if err := confirm(p.stdin, p.stderr, what, "delete", "nothing was deleted"); err != nil {
			return err
		}
	}
	m := &message{
		kind: string(task.Ingest), filename: filename, set: d.set, priority: string(task.PriorityNormal), remove: true,
		purge: d.purge,
	}
	letters, err := m.submissions(nil, strings.NewReader(""), t.Config.ClientID)
	if err != nil {
		return err
	}
	return p.enqueue(ctx, t, letters, d.out, d.watch)
}
