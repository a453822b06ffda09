package cli

import (
	"context"
	"errors"
	"io"

	"github.com/seed-7227ef26/async-worker/internal/store"
)

// Console shows jobs and errors as the commands of async-worker do, for programs beside it.
type Console struct{ p *program }

// NewConsole writes to stdout and stderr. environ is "NAME=value"; TERM and NO_COLOR count.
func NewConsole(environ []string, stdout, stderr io.Writer) Console {
	return Console{&program{env: environ, stdout: stdout, stderr: stderr}}
}

// Colors reports whether stdout shows colours and its reader wants them.
func (c Console) Colors() bool { return c.p.colorful(c.p.stdout) }

// Redraws reports whether Follow redraws lines, so that nothing else may be printed meanwhile.
func (c Console) Redraws() bool { return c.p.terminal(c.p.stdout) }

// Follow shows the progress of jobs until all have ended. It fails when one of them did not succeed.
func (c Console) Follow(ctx context.Context, reader store.Reader, ids []string) error {
	return followerOf(reader).all(ctx, ids, c.p.newDisplay(asTable))
}

// Report prints an error, if there is one, with what was being done and what to do next. It returns the exit code.
func (c Console) Report(doing, next string, err error) int {
	if err != nil && !errors.Is(err, context.Canceled) {
		err = &failure{doing, next, err}
	}
	return c.p.report(err)
}

// ReportUsage is Report for a command line that can't be understood.
func (c Console) ReportUsage(err error, next string) int { return c.p.report(&usageError{err, next}) }
