package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (p *program) newDocumentsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "documents", Aliases: []string{"docs"}, Short: "Show and delete indexed documents",
		Args: needsSubcommand, RunE: showHelp,
	}
	cmd.AddCommand(p.newDocumentsListCommand(), p.newDocumentsDeleteCommand())
	return cmd
}

func (p *program) newDocumentsListCommand() *cobra.Command {
	var out format
	var set, prefix string
	limit := 50
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the indexed documents, by name",
		Long: `list shows the documents that a search finds: those with an active version. The state is active, or
replacing while a job writes the document's next version or removes it. Warnings of the job that indexed it are
shown, such as pages without text. A document whose first version is still being written is not listed; see jobs
list.`,
		Example: `  async-worker documents list --set reports
  async-worker documents list --filename 2026/ -o json`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			if err := checkLimit(limit, 1000); err != nil {
				return err
			}
			return p.withTenant(cmd, storeOnly, func(ctx context.Context, t *app.Tenant) error {
				found, err := documentsNamed(ctx, t.Store, set, prefix,
					func(d store.DocumentEntry) bool { return strings.HasPrefix(d.Filename, prefix) }, limit)
				if err != nil {
					return &failure{"list documents", nextStore, err}
				}
				if len(found) == 0 && out != asJSON {
					printWrapped(p.stderr, "", p.addressed(noDocuments(set, prefix, t.Config.ClientID)))
				}
				return p.printDocuments(out, found)
			})
		}),
	}
	addOutput(cmd, &out)
	cmd.Flags().StringVar(&set, "set", "", "only documents of this set")
	cmd.Flags().StringVar(&prefix, "filename", "", "only documents whose names begin with this")
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, "the maximum number, 1 to 1000")
	addSettings(cmd, storeOnly)
	return cmd
}

// noDocuments says why a listing is empty.
func noDocuments(set, prefix, client string) string {
	switch {
	case prefix != "":
		return "No document matches; without its flags, async-worker documents list shows all."
	case set != "":
		return "The set " + printable(set) + " has no documents; async-worker documents list shows the sets that have."
	}
	return "There are no documents of " + client + " yet; async-worker enqueue --upload FILE --document-set SET adds one."
}

// documentsNamed lists at most limit documents whose names contain part and that keep accepts. The database also
// matches titles, and ignores case.
func documentsNamed(
	ctx context.Context, s store.Passages, set, part string, keep func(store.DocumentEntry) bool, limit int,
) (found []store.DocumentEntry, err error) {
	const page = 1000
	for q := (store.DocumentQuery{DocumentSet: set, Filter: part, Details: true, Limit: page}); ; {
		if part == "" {
			q.Limit = limit // all are kept
		}
		all, err := s.Documents(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, d := range all {
			if keep(d) {
				found = append(found, d)
			}
			if len(found) == limit {
				return found, nil
			}
		}
		if len(all) < q.Limit {
			return found, nil
		}
		last := all[len(all)-1]
		q.After = &store.DocumentCursor{Filename: last.Filename, DocumentSet: last.DocumentSet}
	}
}

func (p *program) printDocuments(out format, found []store.DocumentEntry) error {
	if out == asJSON {
		return printJSON(p.stdout, orEmpty(found))
	}
	items := make([]item, 0, len(found))
	for _, d := range found {
		warning := ""
		if len(d.Warnings) > 0 {
			warning = "! " + strings.Join(d.Warnings, "; ")
		}
		items = append(items, item{
			[]string{
				shorten(d.DocumentSet, 40), strconv.Itoa(d.Version), strconv.Itoa(d.Chunks), d.State,
				formatTime(d.UpdatedAt),
				d.Filename,
			}, warning,
		})
	}
	return listing(p.stdout, []string{"SET", "VERSION", "CHUNKS", "STATE", "UPDATED", "FILENAME"}, items)
}
