package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

// newGenerateCommand makes what a package carries besides the program. It is hidden: packagers need it, operators
// don't.
func (p *program) newGenerateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "generate", Short: "Make the manual pages and the example environment file", Hidden: true,
		Long: `generate writes what a package of this program carries besides it: the manual pages, made of the commands'
help texts and of the table of settings, and an environment file with every setting. The completions come from
the command completion.`,
		Args: subcommand,
		RunE: showHelp,
	}
	var date string
	man := &cobra.Command{
		Use: "man FOLDER", Short: "Write the manual pages into a folder",
		Args: one("a FOLDER"),
		RunE: p.action(func(cmd *cobra.Command, args []string) error { return writeManual(cmd.Root(), args[0], date) }),
	}
	man.Flags().StringVar(&date, "date", "", "the pages' date, as 2026-11-21 (default today)")
	cmd.AddCommand(man, &cobra.Command{
		Use: "env", Short: "Print an environment file with every setting",
		Args: none,
		RunE: p.action(func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(p.stdout, config.EnvFile())
			return err
		}),
	})
	return cmd
}

// writeManual writes a page of section 1 for every command that is not hidden, and async-worker.env(5).
func writeManual(root *cobra.Command, folder, date string) error {
	at := time.Now().UTC()
	if date != "" {
		var err error
		if at, err = time.Parse(time.DateOnly, date); err != nil {
			return badUsage("write --date as 2026-11-21", "--date %s is no date", date)
		}
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	for _, c := range root.Commands() {
		if c.Name() == "dev" { // it is made where the source is, for where it is not
			root.RemoveCommand(c)
			root.Example = strings.TrimPrefix(root.Example, devExample)
		}
	}
	root.DisableAutoGenTag = true
	source := "async-worker " + app.Version
	err := doc.GenManTree(root, &doc.GenManHeader{
		Section: "1", Date: &at, Source: source, Manual: "async-worker",
	}, folder)
	if err != nil {
		return fmt.Errorf("write the manual pages: %w", err)
	}
	head := fmt.Sprintf("%% \"ASYNC-WORKER.ENV\" \"5\" \"%s\" \"%s\" \"async-worker\"\n", at.Format("Jan 2006"), source)
	page := md2man.Render([]byte(head + strings.TrimLeft(config.Manual(), "\n")))
	f, err := os.Create(filepath.Join(folder, "async-worker.env.5")) // readable for all, as cobra's
	if err != nil {
		return err
	}
	_, err = f.Write(page)
	return errors.Join(err, f.Close())
}
