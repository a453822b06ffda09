// Command async-worker does the document tasks of one tenant: the daemon (`run`) and the commands of its operators.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/cli"

	// Schedules name time zones. On a machine without a database of them, a worker would pause, for all, the schedules that
	// name one. The machine's own database comes first.
	_ "time/tzdata"
)

func main() {
	if err := app.Protect(); err != nil {
		fmt.Fprintln(os.Stderr, "async-worker: other processes of this user can read its memory:", err)
	}
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
