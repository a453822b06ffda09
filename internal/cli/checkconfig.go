package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/config"
)

// configReport is what `check-config -o json` prints.
type configReport struct {
	Settings []config.Row     `json:"settings"`
	Warnings []config.Problem `json:"warnings"`
	Problems []config.Problem `json:"problems"`
}

func (p *program) newCheckConfigCommand() *cobra.Command {
	var out format
	cmd := &cobra.Command{
		Use:   "check-config",
		Short: "Show the settings in force, or everything that is wrong with them",
		Long: `check-config reads the settings as run does, without calling any service. It prints every problem at
once, each with its name, what is wrong and how to mend it, and exits with 78; or a table of all
settings with where each comes from. Secrets are never printed.`,
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
	s := "s"
	if len(problems) == 1 {
		s = ""
	}
	fmt.Fprintf(w, "\n%d problem%s in the settings.\n", len(problems), s)
}

// orEmpty makes an empty JSON list of nil.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
