// Command async-worker does the document tasks of one tenant: the daemon (`run`) and the commands of
// the people around it. One file for each subcommand; internal/app does the wiring.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-7227ef26/async-worker/internal/app"
)

func main() {
	if err := app.Protect(); err != nil {
		fmt.Fprintln(os.Stderr, "async-worker: other processes of this user can read its memory:", err)
	}
	os.Exit(run(context.Background(), os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
