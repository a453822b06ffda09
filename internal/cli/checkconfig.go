package cli

import (
	"errors"
	"fmt"
	"io"

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
		var rows [][]string
		for _, r := range cfg.Effective() {
			rows = append(rows, []string{r.Name, r.Value, r.Origin})
		}
		if err := table(p.stdout, []string{"SETTING", "VALUE", "FROM"}, rows); err != nil {
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
