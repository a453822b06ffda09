package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

func (p *program) newSearchCommand() *cobra.Command {
	var out format
	var q store.Query
	const groups = storeOnly | config.Models
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Search the tenant's documents by words and by meaning",
		Long: `search embeds the query with the worker's provider and searches the database for chunks that match by
words or by meaning. Each hit shows file, page and headings, set, version and chunk; -o json adds the position
on the page. Quotes mark a phrase, OR in capitals means either word, and a minus before a word or a phrase
excludes it; before a digit it is a minus sign. A hit without a word of the query is marked "by meaning only". A
query without a word finds nothing. Put -- before a query that begins with a minus.`,
		Example: `  async-worker search "notice period" --set contracts
  async-worker search '"Super Bowl" -Panthers'
  async-worker search "Umsatz 2024" -n 3 -o json`,
		Args: someArgs("a QUERY"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			q.Text = strings.TrimSpace(strings.Join(args, " "))
			if q.Text == "" {
				return badUsage("give it words to look for", "the query is empty")
			}
			if err := checkLimit(q.Limit, 100); err != nil {
				return err
			}
			return p.withTenant(cmd, groups, func(ctx context.Context, t *app.Tenant) error {
				found, err := find(ctx, t, q)
				if err != nil {
					return err
				}
				if out == asJSON {
					return printJSON(p.stdout, orEmpty(found.Hits))
				}
				if found.Notice != "" {
					fmt.Fprintln(p.stderr, found.Notice)
				}
				return PrintHits(p.stdout, found.Hits)
			})
		}),
	}
	addOutput(cmd, &out)
	cmd.Flags().StringVar(&q.DocumentSet, "set", "", "only this document set")
	cmd.Flags().IntVarP(&q.Limit, "limit", "n", 5, "the maximum number of hits, 1 to 100")
	addSettings(cmd, groups)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if _, odd := errors.AsType[*pflag.InvalidValueError](err); odd {
			return wrongFlag(cmd, err)
		}
		return badUsage("put -- before a query that begins with a minus: async-worker search -- '-draft notice'; "+
			"async-worker search --help lists the flags", "%v", err)
	})
	return cmd
}

func find(ctx context.Context, t *app.Tenant, q store.Query) (search.Found, error) {
	found, err := t.Find(ctx, t.Store, q)
	if e, ok := errors.AsType[*search.EmbedError](err); ok {
		return found, &failure{"embed the query", nextModel, e.Cause}
	}
	if err != nil {
		return found, &failure{"search", nextStore, err}
	}
	return found, nil
}

// Markup of Markdown that says nothing in a snippet, which is one line of prose.
var (
	heading   = regexp.MustCompile(`^#{1,6}\s+`)
	tableRule = regexp.MustCompile(`^\|?\s*:?-{3,}[\s:|-]*$`)
	emphasis  = regexp.MustCompile(`\*\*(\S(?:.*?\S)?)\*\*`)
)

// snippetOf is a chunk's text on one line, without the Markdown of headings, tables and emphasis.
func snippetOf(markdown string) string {
	var words []string
	for line := range strings.SplitSeq(markdown, "\n") {
		line = strings.TrimSpace(line)
		if tableRule.MatchString(line) {
			continue
		}
		if strings.HasPrefix(line, "|") {
			line = strings.ReplaceAll(strings.Trim(line, "|"), "|", " ")
		}
		line = emphasis.ReplaceAllString(heading.ReplaceAllString(line, ""), "$1")
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}

// PrintHits prints the hits of a search, one after the other.
func PrintHits(w io.Writer, hits []store.Hit) error {
	if len(hits) == 0 {
		_, err := fmt.Fprintln(w, "Nothing found. async-worker jobs list --type ingest shows what was ingested.")
		return err
	}
	if !slices.ContainsFunc(hits, func(h store.Hit) bool { return h.Matched }) {
		const head = "No document contains a word of the query. These are the nearest by meaning:"
		if _, err := fmt.Fprintln(w, head); err != nil {
			return err
		}
	}
	for i, h := range hits {
		place := []string{h.Filename}
		if len(h.Pages) > 0 {
			place = append(place, pages(h.Pages))
		}
		if len(h.HeadingPath) > 0 {
			place = append(place, strings.Join(h.HeadingPath, " › "))
		}
		how := ""
		if !h.Matched {
			how = ", by meaning only"
		}
		snippet := shorten(snippetOf(h.Content), 300)
		_, err := fmt.Fprintf(w, "%d. %s\n   score %.4f, similarity %.2f%s, set %s, version %d, chunk %s\n",
			i+1, printable(strings.Join(place, " · ")), h.Score, h.Similarity, how, printable(h.DocumentSet), h.Version,
			h.ChunkID)
		if err != nil {
			return err
		}
		printWrapped(w, "   ", printable(snippet))
	}
	return nil
}

// pages is "page 3" or "pages 3-5"; a chunk's pages are adjacent.
func pages(ps []int) string {
	if len(ps) == 1 {
		return fmt.Sprintf("page %d", ps[0])
	}
	return fmt.Sprintf("pages %d-%d", ps[0], ps[len(ps)-1])
}
