// Command async-worker-dev runs the whole system on one machine: a local stack, a worker and a tour with sample
// documents. `make run` builds and starts it; no package contains it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/cli"
	"github.com/seed-7227ef26/async-worker/internal/devstack"
)

const about = `Usage: async-worker-dev [--once] [--backend postgres|nats] [--home DIR] [--worker FILE]

async-worker-dev starts real Azurite, Postgres (PGlite) and PostgREST from npm, applies the schema, starts the
daemon, ingests the documents of dev/samples, checks the webhook of each, shows a bad task in the dead letters and
asks the index a question. It needs Node.js and no key: without OPENAI_API_KEY it uses the offline provider. Run it
inside the project's folder. It writes only to .dev/ there: data, logs, and, in .dev/env, the settings of the running
stack for other commands. What is in .dev/data stays for the next run, documents too; make clean removes it.

  --once         stop after the tour, which uses fresh data and removes it; exit code 0: all went well
  --backend postgres
                 start one Postgres, which must be installed, in place of Azurite, PGlite and PostgREST: it holds jobs
                 and queues, and the documents are in a folder; no Node.js is needed, and the database is not kept
  --backend nats the same with the queues in a nats-server, which is beside this program (make run builds it) or in PATH
  --home DIR     write to this folder (default: .dev in the project's folder)
  --worker FILE  the program to run as the worker (default: async-worker in the folder of this program)
`

func main() {
	if err := app.Protect(); err != nil {
		fmt.Fprintln(os.Stderr, "async-worker-dev: other processes of this user can read its memory:", err)
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	console := cli.NewConsole(environ, stdout, stderr)
	o := devstack.Options{
		Environ: environ, Stdout: stdout, Color: console.Colors(), Redraws: console.Redraws(),
		Follow: console.Follow, ShowHits: cli.PrintHits,
	}
	if err := parse(args, &o); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, about)
		return 0
	} else if err != nil {
		return console.ReportUsage(err, "async-worker-dev --help lists the flags")
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends the process
	if err := checkPrograms(&o); err != nil {
		return console.ReportUsage(err, "make run builds what it needs; --worker names another worker")
	}
	return console.Report("dev", "the logs of all parts are in .dev/logs", devstack.Run(ctx, o))
}

func parse(args []string, o *devstack.Options) error {
	flags := flag.NewFlagSet("async-worker-dev", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the error says it
	flags.BoolVar(&o.Once, "once", false, "")
	flags.StringVar(&o.Backend, "backend", "", "")
	flags.StringVar(&o.Home, "home", "", "")
	flags.StringVar(&o.Worker, "worker", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch o.Backend {
	case devstack.BackendSupabase, devstack.BackendPostgres, devstack.BackendNATS:
	default:
		return fmt.Errorf("--backend %q: the other backends are %s and %s", o.Backend, devstack.BackendPostgres,
			devstack.BackendNATS)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("async-worker-dev takes no argument, got %q", flags.Arg(0))
	}
	return nil
}

// checkPrograms finds the programs to start, as absolute paths: they start in another folder.
func checkPrograms(o *devstack.Options) error {
	if o.Worker == "" {
		file, err := beside("async-worker")
		if err != nil {
			return err
		}
		o.Worker = file
	}
	var err error
	if o.Worker, err = filepath.Abs(o.Worker); err != nil {
		return err
	}
	if _, err := os.Stat(o.Worker); err != nil {
		return fmt.Errorf("find the worker's program: %w", err)
	}
	if o.Backend != devstack.BackendNATS {
		return nil
	}
	if o.NATS, err = beside("nats-server"); err != nil {
		return err
	}
	if _, err := os.Stat(o.NATS); err == nil {
		return nil
	}
	if o.NATS, err = exec.LookPath("nats-server"); err != nil {
		return fmt.Errorf("find nats-server beside this program or in PATH: %w", err)
	}
	o.NATS, err = filepath.Abs(o.NATS)
	return err
}

// beside is a file in the folder of this program.
func beside(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's file: %w", err)
	}
	return filepath.Join(filepath.Dir(self), name), nil
}
