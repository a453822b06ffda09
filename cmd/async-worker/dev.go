package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/seed-7227ef26/async-worker/internal/devstack"
	"github.com/seed-7227ef26/async-worker/internal/store"
)

// devExample leads the examples of the whole program where dev can work.
const devExample = "  async-worker dev                                    a whole local stack with a worker\n"

// devHint is how remedies name it.
var devHint = regexp.MustCompile("; `async-worker dev` starts a local [A-Za-z]+")

// elsewhere leaves out of a remedy what helps inside of the project alone.
func elsewhere(remedy string) string {
	if devstack.Here() {
		return remedy
	}
	return devHint.ReplaceAllString(remedy, "")
}

// newDevCommand is only for those who have the source: an installed program has no samples, and no npm packages to
// start.
func (p *program) newDevCommand() *cobra.Command {
	var o devstack.Options
	cmd := &cobra.Command{
		Use: "dev", Short: "A whole local stack with a worker and sample documents (what make run runs)",
		Long: `dev starts real Azurite, Postgres (PGlite) and PostgREST from npm, applies the schema, starts the daemon,
ingests the documents of dev/samples, checks the webhook of each, shows a bad task in the dead letters
and asks the index a question. It needs Node.js, and no key: without OPENAI_API_KEY it uses the offline
provider. It runs inside the project's folder, and all that it writes is in .dev/ there: data, logs,
and the settings of the running stack for other commands, in .dev/env.`,
		Example: `  async-worker dev           the tour, then it stays up until Ctrl-C
  async-worker dev --once    the tour with fresh data, then it stops; 0 when all went well`,
		Args: none,
		RunE: p.action(func(cmd *cobra.Command, _ []string) error {
			exe, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program's file: %w", err)
			}
			o.Executable, o.Environ, o.Stdout = exe, p.env, p.stdout
			o.Color, o.Redraws = p.colorful(p.stdout), p.terminal(p.stdout)
			o.ShowHits = printHits
			o.Follow = func(ctx context.Context, reader store.Reader, ids []string) error {
				return newFollower(reader).all(ctx, ids, p.newDisplay(asTable))
			}
			if err := devstack.Run(cmd.Context(), o); err != nil && !errors.Is(err, context.Canceled) {
				return &failure{"dev", "the logs of all parts are in .dev/logs", err}
			} else if err != nil {
				return err
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&o.Once, "once", false, "end after the tour; its data is fresh, and removed afterwards")
	cmd.Flags().StringVar(&o.Home, "home", "",
		"the folder of all that it writes (default .dev in the project's folder)")
	_ = cmd.MarkFlagDirname("home") // it was added just now
	return cmd
}
