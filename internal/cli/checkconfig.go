package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// configReport is the JSON of check-config.
type configReport struct {
	Settings []config.Row     `json:"settings"`
	Warnings []config.Problem `json:"warnings"`
	Problems []config.Problem `json:"problems"`
}

func (p *program) newCheckConfigCommand() *cobra.Command {
	var out format
	cmd := &cobra.Command{
		Use:   "check-config",
		Short: "Show the settings in force, or all that is wrong with them",
		Long: `check-config reads the settings as run does, and calls no service. It prints a table of all settings and
their sources. If some are wrong, it prints every problem with its remedy and exits with 78. It never prints
secrets.`,
		Example: `  async-worker check-config
  sudo async-worker check-config --tenant southhaven`,
		Args: noArgs,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			cfg, err := p.load(cmd, config.All)
			var problems []config.Problem
			if e, ok := errors.AsType[*config.Errors](err); ok {
				problems = e.Problems
				err = &reportedError{err}
			} else if err != nil {
				return err
			}
			if printErr := p.printChecked(out, cfg, problems); printErr != nil {
				return printErr
			}
			return err
		}),
	}
	addOutput(cmd, &out)
	addSettings(cmd, config.All)
	return cmd
}

func (p *program) printChecked(out format, cfg config.Config, problems []config.Problem) error {
	if out == asJSON {
		return printJSON(p.stdout, configReport{orEmpty(cfg.Effective()), orEmpty(cfg.Warnings()), orEmpty(problems)})
	}
	if len(problems) > 0 {
		p.printProblems(p.stdout, problems)
	} else {
		if err := printSettings(p.stdout, cfg.Effective()); err != nil {
			return err
		}
	}
	for _, w := range cfg.Warnings() {
		fmt.Fprintln(p.stdout)
		printWrapped(p.stdout, "warning: ", w.Name+": "+w.Problem)
		printWrapped(p.stdout, "  remedy:  ", w.Remedy)
	}
	if len(problems) == 0 {
		_, err := fmt.Fprintln(p.stdout, "\nThe settings are fine.")
		return err
	}
	return nil
}

// printSettings prints settings in columns, within maxLineWidth: what is too long for that is below its row.
func printSettings(w io.Writer, rows []config.Row) error {
	const longOrigin = 60
	var name, origin int
	for _, r := range rows {
		name = max(name, len(r.Name))
		if len(r.Origin) <= longOrigin {
			origin = max(origin, len(r.Origin))
		}
	}
	items := make([]item, len(rows))
	for i, r := range rows {
		var value, from string
		if runewidth.StringWidth(r.Value) > maxLineWidth-name-origin-4 {
			r.Value, value = "", r.Value
		}
		if len(r.Origin) > longOrigin {
			r.Origin, from = "", "from "+r.Origin
		}
		items[i] = item{[]string{r.Name, r.Value, r.Origin}, joinNonEmpty(value, from)}
	}
	return listing(w, []string{"SETTING", "VALUE", "FROM"}, items)
}

func (p *program) printProblems(w io.Writer, problems []config.Problem) {
	for _, problem := range problems {
		fmt.Fprintln(w, problem.Name)
		p.printMessage(w, "  problem: ", problem.Problem)
		p.printMessage(w, "  remedy:  ", problem.Remedy)
	}
	fmt.Fprintf(w, "\n%s in the settings.\n", counted(len(problems), "problem"))
}

// orEmpty returns an empty list for nil, for JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
