package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
	"github.com/seed-7227ef26/async-worker/internal/search"
	"github.com/seed-7227ef26/async-worker/internal/store"
	"github.com/seed-7227ef26/async-worker/internal/taskerr"
)

// searching are the flags of search.
type searching struct {
	search.Query

	metadata, from, to, language string
}

func (p *program) newSearchCommand() *cobra.Command {
	var out format
	var s searching
	const groups = storeOnly | config.Models
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Search the tenant's documents by words and by meaning",
		Long: `search embeds the query with the worker's provider and searches the database for chunks that match by
words or by meaning. Each hit shows file, page and headings, set, version and chunk; -o json adds the position
on the page. Quotes mark a phrase, OR in capitals means either word, and a minus before a word or a phrase
excludes it; before a digit it is a minus sign. A hit without a word of the query is marked "by meaning only". A
query without a word finds nothing. Put -- before a query that begins with a minus. --explain shows the place of
each hit among those by words and by meaning, the scores there and what became of them.`,
		Example: `  async-worker search "notice period" --set contracts
  async-worker search '"Super Bowl" -Panthers'
  async-worker search "notice period" --metadata '{"year": 2024}' --language en --per-document 1
  async-worker search "Umsatz 2024" -n 3 --explain`,
		Args: someArgs("a QUERY"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error {
			s.Text = strings.TrimSpace(strings.Join(args, " "))
			if err := s.check(); err != nil {
				return err
			}
			return p.withTenant(cmd, groups, func(ctx context.Context, t *app.Tenant) error {
				found, err := find(ctx, t, s.Query)
				if err != nil {
					return err
				}
				if found.Notice != "" {
					fmt.Fprintln(p.stderr, found.Notice)
				}
				narrowed := narrowing(cmd.Flags())
				switch {
				case out == asJSON:
					return printJSON(p.stdout, orEmpty(found.Hits))
				case len(found.Hits) == 0 && narrowed != "":
					_, err := fmt.Fprintf(p.stdout, "Nothing found with %s. Without, the search is among all documents.\n", narrowed)
					return err
				case len(found.Hits) == 0:
					_, err := fmt.Fprintln(p.stdout, p.addressed(nothingFound))
					return err
				case s.Explain:
					return printExplained(p.stdout, found.Hits)
				}
				return PrintHits(p.stdout, found.Hits)
			})
		}),
	}
	addOutput(cmd, &out)
	s.addTo(cmd.Flags())
	addSettings(cmd, groups)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		unknown, _ := errors.AsType[*pflag.NotExistError](err)
		_, odd := errors.AsType[*pflag.InvalidValueError](err)
		if odd || unknown != nil && len(nearFlags(cmd, unknown.GetSpecifiedName())) > 0 {
			return wrongFlag(cmd, err)
		}
		return badUsage("put -- before a query that begins with a minus: async-worker search -- '-draft notice'; "+
			"async-worker search --help lists the flags", "%v", err)
	})
	return cmd
}

func (s *searching) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&s.DocumentSet, "set", "", "only this document set")
	flags.StringVar(&s.metadata, "metadata", "", "only documents whose metadata has these keys and values, as JSON")
	flags.StringVar(&s.from, "from", "", "only documents of this day (UTC) or time, or later")
	flags.StringVar(&s.to, "to", "", "only documents of this day (UTC) or time, or earlier")
	flags.StringVar(&s.language, "language", "", "only documents in this language, as en or en-GB")
	flags.IntVarP(&s.Limit, "limit", "n", 5, "the maximum number of hits, 1 to 100")
	flags.IntVar(&s.PerDocument, "per-document", 0, "the maximum number of hits of one document; 0: any number")
	flags.IntVar(&s.Expand, "expand", 0, "how many chunks before and after a hit, under its heading, to show, 0 to 4")
	flags.BoolVar(&s.Explain, "explain", false, "why each hit is in its place")
}

// narrowing are the flags in use that leave documents out, separated by commas.
func narrowing(flags *pflag.FlagSet) string {
	var names []string
	for _, name := range []string{"set", "metadata", "from", "to", "language"} {
		if flags.Lookup(name).Value.String() != "" {
			names = append(names, "--"+name)
		}
	}
	return strings.Join(names, ", ")
}

// check checks the flags, and makes the query of them.
func (s *searching) check() error {
	if s.Text == "" {
		return badUsage("give it words to look for", "the query is empty")
	}
	if err := checkLimit(s.Limit, 100); err != nil {
		return err
	}
	if s.PerDocument < 0 {
		return badUsage("give 1 or more, or 0 for any number", "--per-document %d is out of range", s.PerDocument)
	}
	if s.Expand < 0 || s.Expand > search.MaxExpand {
		return badUsage(fmt.Sprintf("give 0 to %d", search.MaxExpand), "--expand %d is out of range", s.Expand)
	}
	var metadata store.Metadata
	if s.metadata != "" {
		if err := json.Unmarshal([]byte(s.metadata), &metadata); err != nil || metadata == nil {
			return badUsage(`write an object such as {"year": 2024}`, "--metadata is not a JSON object")
		}
	}
	from, _, err := parseDay("from", s.from)
	if err != nil {
		return err
	}
	to, day, err := parseDay("to", s.to)
	if err != nil {
		return err
	}
	if day {
		to = to.AddDate(0, 0, 1).Add(-time.Second) // the whole day
	}
	s.Within = search.Narrowed(metadata, &from, &to, s.language)
	return wrongQuery(s.Check())
}

// wrongQuery is an InvalidError as a mistake in the command line; other errors stay.
func wrongQuery(err error) error {
	if bad, ok := errors.AsType[*search.InvalidError](err); ok {
		if bad.Field == "from" {
			return badUsage("swap them, or leave one out", "--from is later than --to")
		}
		return badUsage(bad.Remedy, "the query %s", bad.Problem)
	}
	return err
}

// parseDay is parseTime, but a day is one of UTC, as those in documents are: elsewhere a document of that day, whose time
// is midnight, would be of the day before.
func parseDay(flag, text string) (at time.Time, day bool, err error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, true, nil
	}
	at, err = parseTime(flag, text)
	return at, false, err
}

func find(ctx context.Context, t *app.Tenant, q search.Query) (search.Found, error) {
	found, err := t.Find(ctx, t.Store, q)
	if e, ok := errors.AsType[*search.EmbedError](err); ok {
		next := nextModel
		if known, ok := errors.AsType[*taskerr.Error](e.Cause); ok {
			next = cmp.Or(known.Hint, next)
		}
		return found, &failure{"embed the query", next, e.Cause}
	}
	if _, ok := errors.AsType[*search.InvalidError](err); ok {
		return found, wrongQuery(err)
	}
	if err != nil {
		return found, &failure{"search", nextStore, err}
	}
	return found, nil
}
