// Command manual writes what a package carries beside the program:
//
//	manual -date 2026-11-21 pages FOLDER   the manual pages
//	manual env                             an environment file with every setting, to standard output
//
// The pages come from the commands' help texts and the table of settings. Build it with the program's -ldflags: the
// pages name its version. `async-worker completion` prints the shells' completions.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra/doc"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/cli"
	"github.com/seed-7227ef26/async-worker/internal/config"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("manual", flag.ContinueOnError)
	day := flags.String("date", time.Now().UTC().Format(time.DateOnly), "the pages' date, as 2026-11-21")
	if err := flags.Parse(args); err != nil {
		return err
	}
	date, err := time.Parse(time.DateOnly, *day)
	if err != nil {
		return fmt.Errorf("-date %s is not a date; write it as 2026-11-21", *day)
	}
	switch {
	case flags.Arg(0) == "pages" && flags.NArg() == 2:
		return writePages(flags.Arg(1), date)
	case flags.Arg(0) == "env" && flags.NArg() == 1:
		_, err := io.WriteString(stdout, config.EnvFile())
		return err
	}
	return errors.New("usage: manual [-date 2026-11-21] pages FOLDER; or manual env")
}

// writePages writes a page of section 1 for every command that is not hidden, and async-worker.env(5).
func writePages(folder string, date time.Time) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	root := cli.Root()
	root.DisableAutoGenTag = true
	source := "async-worker " + app.Version
	err := doc.GenManTree(root, &doc.GenManHeader{
		Section: "1", Date: &date, Source: source, Manual: "async-worker",
	}, folder)
	if err != nil {
		return fmt.Errorf("write the manual pages: %w", err)
	}
	head := fmt.Sprintf("%% \"ASYNC-WORKER.ENV\" \"5\" \"%s\" \"%s\" \"async-worker\"\n",
		date.Format("Jan 2006"), source)
	page := md2man.Render([]byte(head + strings.TrimLeft(config.Manual(), "\n")))
	f, err := os.Create(filepath.Join(folder, "async-worker.env.5")) // world-readable, like cobra's pages
	if err != nil {
		return err
	}
	_, err = f.Write(page)
	return errors.Join(err, f.Close())
}
