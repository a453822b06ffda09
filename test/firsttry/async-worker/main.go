// Command async-worker is the program of tests that use it as a user does: cmd/async-worker, with more patience with
// services that do not answer. On a machine with many tests a real one may be silent for longer than a user would wait.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seed-7227ef26/async-worker/internal/app"
	"github.com/seed-7227ef26/async-worker/internal/cli"

	// as in cmd/async-worker
	_ "time/tzdata"
)

// patience with a service that has not answered anything.
const patience = 5 * time.Minute

func main() {
	if err := app.Protect(); err != nil {
		fmt.Fprintln(os.Stderr, "async-worker: other processes of this user can read its memory:", err)
	}
	os.Exit(cli.RunPatiently(context.Background(), patience, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
